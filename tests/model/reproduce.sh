#!/bin/sh
# SPDX-License-Identifier: MIT
#
# reproduce.sh - build and run a program that the model driver has printed
#
#	tests/model/reproduce.sh BUILD-FOLDER FILE.c [TARGET]
#
# It is built like the tests of that folder. Ends as the program does.
set -eu

build=$1
target=tests/model/${3:-reproducer}

cp "$2" "$build/tests/model/printed.c"
touch "$build/tests/model/printed.c" # newer than what was built last
ninja -C "$build" "$target" >&2
"$build/$target"
