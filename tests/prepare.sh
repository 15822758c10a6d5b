# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# prepare.sh - what tests/run.sh and bench/run.sh have in common: get what
# building needs, choose a folder, build
#
# Sourced, with these set:
#
#	name      the script's name, for messages, and the build folder's
#	source    the source tree
#	wanted    pkg-config names that must be there, with their Debian packages:
#	          "liblz4=liblz4-dev ..."
#	commands  commands likewise: "c++=g++"
#	options   what `meson setup` gets
#
# want_jemalloc adds what putting jemalloc behind the hooks needs to these;
# jemalloc_library then prints the path to preload.
#
# What is missing is installed by apt-get where that is possible; other systems
# are told what to install. prepare leaves the build's folder in $build. It is
# $source/tests/build or the like or, where that is not ours, a folder under
# ~/.cache, or a scratch folder. Later runs build only what has changed.

fail() {
	echo "$name: $*" >&2
	exit 2
}

scratch=$(mktemp -d) || fail "no temporary folder"
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- jemalloc -------------------------------------------------------------

want_jemalloc() {
	wanted="$wanted jemalloc=libjemalloc-dev"
	options="$options -Djemalloc=enabled"
}

jemalloc_library() {
	library=$(pkg-config --variable=libdir jemalloc)/libjemalloc.so.2
	[ -f "$library" ] || fail "$library: not there"
	echo "$library"
}

# ---- what building needs ---------------------------------------------------

have() {
	command -v "$1" >/dev/null 2>&1
}

find_compiler() {
	for compiler in ${CC:+"${CC%% *}"} cc gcc clang; do
		have "$compiler" && return
	done
	return 1
}

has_libc_headers() {
	echo '#include <stdlib.h>' | "$compiler" -E - >/dev/null 2>&1
}

has_library() {
	have pkg-config && pkg-config --exists "$1"
}

# Debian's names of the packages that provide what is not here.
missing_packages() {
	if find_compiler; then
		has_libc_headers || echo libc6-dev
	else
		echo gcc libc6-dev
	fi
	have meson || echo meson
	have ninja || have ninja-build || have samu || echo ninja-build
	have pkg-config || echo pkg-config
	for command in $commands; do
		have "${command%=*}" || echo "${command#*=}"
	done
	for library in $wanted; do
		has_library "${library%=*}" || echo "${library#*=}"
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

may_install() {
	have apt-get || return 1
	[ "$(id -u)" = 0 ] || { have sudo && sudo -n true >/dev/null 2>&1; }
}

install_packages() {
	echo "$name: installing $*" >&2
	{
		as_root apt-get -qq -o DPkg::Lock::Timeout=300 update || true
		as_root env DEBIAN_FRONTEND=noninteractive \
			apt-get -qq -y -o DPkg::Lock::Timeout=300 \
			--no-install-recommends install "$@"
	} </dev/null >"$log" 2>&1 && return
	cat "$log" >&2
	fail "apt-get could not install: $*"
}

# shellcheck disable=SC2086 # a list of words
get_tools() {
	missing=$(missing_packages | tr '\n' ' ')
	missing=${missing% }
	[ -n "$missing" ] || return 0
	may_install || fail "missing (names of Debian packages): $missing"
	install_packages $missing
	missing=$(missing_packages | tr '\n' ' ')
	[ -z "$missing" ] || fail "still missing after installing: $missing"
}

# ---- where to build --------------------------------------------------------

# Ours and writable: a folder that another user has built in is left alone.
usable() {
	mkdir -p "$1" 2>/dev/null && [ -O "$1" ] && [ -w "$1" ]
}

# One folder for each source tree: its path's checksum tells them apart.
cache_folder() {
	sum=$(printf '%s' "$source" | cksum | tr -d ' ')
	cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}
	echo "$cache/libzswap/${name%%/*}-$sum"
}

choose_folder() {
	for build in "$source/${name%%/*}/build" "$(cache_folder)" \
		"$scratch/build"; do
		usable "$build" && return
	done
	fail "no folder to build in"
}

# ---- building --------------------------------------------------------------

# A build that was configured with other options gets these as well.
# shellcheck disable=SC2086 # a list of words
configure() {
	[ "$(cat "$build/options" 2>/dev/null)" = "$options" ] && return
	again=
	[ ! -f "$build/build.ninja" ] || again=--reconfigure
	meson setup $again "$build" "$source" $options || return
	echo "$options" >"$build/options"
}

build_all() {
	{ configure && meson compile -C "$build"; } </dev/null >"$log" 2>&1
}

# A folder of another meson, compiler or source tree is made anew, once.
build_or_fail() {
	build_all && return
	rm -rf "$build"
	mkdir -p "$build"
	build_all && return
	cat "$log" >&2
	fail "building failed"
}

# Where the build folder is scratch, it goes with the script.
prepare() {
	get_tools
	choose_folder
	build_or_fail
}
