#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tls.sh - thread-local variables are there from a thread's start
#
# usage: tls.sh LIBRARY...
#
# With the initial-exec model a variable is reached without a call. A library
# that calls __tls_get_addr() has a variable of another model, whose memory may
# be allocated when a thread first touches it: inside a load, of all places.

set -eu

bad=0
for library; do
	[ "$library" = - ] && continue
	case $library in
	*.a) table= ;;
	*) table=-D ;;
	esac
	if ${NM:-nm} -P -u $table "$library" | grep '^__tls_get_addr'; then
		echo "$library: has thread-local memory that is made late" >&2
		bad=1
	fi
done
exit "$bad"
