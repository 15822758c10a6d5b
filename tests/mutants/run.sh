#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - break the library on purpose, and see whether the tests notice
#
#	run.sh [--list | --check] [NAME ...]
#
# Each NAME.patch beside this script is a *mutant*: one realistic mistake in
# lib/. In a copy of the source tree the default suite (see tests/run.sh) is run
# unbroken, which must pass, then with each mutant until a test fails. Without
# names it is all mutants. --check only applies and compiles them, --list prints
# their names.
#
# Ends with a table: the mutant, the seconds until it was caught, the test and
# its case. A hang is caught by a test's own watchdog or its time limit, or not
# at all. A mutant that does not apply or compile is an error, never caught. The
# exit status is 0 only if all were caught (or, with --check, compiled).
#
# To add one: change a file of lib/, then
#
#	git diff lib/ > tests/mutants/NAME.patch; git checkout lib/
#
# and write above the patch, on lines that begin with #, what is broken and what
# a user would lose. It has to be a mistake that a good programmer could make,
# which compiles and passes for right at a first reading. Then run it; if no
# test catches it, add the test.
set -eu

name=tests/mutants/run.sh
here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P)
source=$(dirname "$(dirname "$here")")
wanted=
commands="patch=patch setsid=util-linux"
. "$source/tests/prepare.sh"

copy=$scratch/tree
build=$copy/tests/build
table=$scratch/table
job=
mode="test"
caught=0 total=0

# ---- processes -------------------------------------------------------------

# What a broken library may leave behind: programs of the build folder.
end_strays() {
	find /proc/[0-9]* -maxdepth 1 -name exe -lname "$copy/*" 2>/dev/null |
		while IFS=/ read -r _ _ pid _; do
			kill -KILL "$pid" 2>/dev/null || true
		done
}

end_all() {
	if [ -n "$job" ]; then
		kill -TERM "-$job" 2>/dev/null || true
		wait "$job" || true
	fi
	end_strays
	rm -rf "$scratch"
}
trap end_all EXIT

# A command in a process group of its own, so that a signal can end all of it.
run() {
	setsid "$@" </dev/null >"$log" 2>&1 &
	job=$!
	wait "$job" && status=0 || status=$?
	job=
	end_strays
	return "$status"
}

# ---- the copy --------------------------------------------------------------

# The tracked files as they are now; outside of a repository all files but those
# of build folders.
list_files() {
	git ls-files -z >"$scratch/files" 2>/dev/null || true
	[ -s "$scratch/files" ] ||
		find . -name .git -prune -o -type d \
			-exec test -d '{}/meson-private' ';' -prune -o \
			-type f -print0 >"$scratch/files"
}

copy_tree() {
	mkdir "$copy"
	(
		cd "$source"
		list_files
		tar --null -T "$scratch/files" --ignore-failed-read -cf - |
			tar -xf - -C "$copy"
	) || fail "could not copy $source"
}

# The suite in the copy must pass as it is. Leaves the build folder.
test_unbroken() {
	echo "$name: unbroken: running"
	begin=$(date +%s)
	run "$copy/tests/run.sh" || {
		cat "$log" >&2
		fail "the unbroken library does not pass"
	}
	echo "$name: unbroken: passed, $(($(date +%s) - begin)) s"
}

# The library alone, with the checks that tests/run.sh builds.
build_unbroken() {
	if ! run meson setup "$build" "$copy" --buildtype=plain \
		-Ddebug_checks=true -Dtests=disabled -Dbench=false \
		-Dexamples=false || ! run meson compile -C "$build"; then
		cat "$log" >&2
		fail "the unbroken library does not compile"
	fi
}

# ---- mutants ---------------------------------------------------------------

list_mutants() {
	for file in "$here"/*.patch; do
		basename "$file" .patch
	done
}

# A patch that does not fit exactly leaves everything as it is.
patch_copy() {
	run patch -d "$copy" -p1 --fuzz=0 --batch --forward --dry-run \
		-i "$1" &&
		run patch -d "$copy" -p1 --fuzz=0 --batch --forward \
			--no-backup-if-mismatch -i "$1"
}

unpatch_copy() {
	run patch -d "$copy" -p1 --batch --reverse --no-backup-if-mismatch \
		-i "$1" || fail "could not take $1 back"
}

# The name after the last of cmocka's marks of a kind, in one test's output.
last_case() {
	sed -n "s/.*\\[ *$1 *\\] \\([A-Za-z0-9_]\\{1,\\}\\).*/\\1/p" \
		"$scratch/line"
}

# The first test that failed, and its case where that is told: the one that
# failed, or whose end did (ERROR); where a test ended without a word the one it
# had begun last.
culprit() {
	sed -n -e '/"result": "FAIL"/{p;q;}' -e '/"result": "TIMEOUT"/{p;q;}' \
		"$build/meson-logs/testlog.json" >"$scratch/line"
	sed 's/^{"name": "[^:]*:\([^"]*\)".*/\1/' "$scratch/line"
	for mark in FAILED ERROR RUN; do
		last_case $mark | grep . && break
	done
	grep -q '"result": "TIMEOUT"' "$scratch/line" &&
		echo "(its time was over)"
}

# A mutant, the seconds, and what became of it.
row() {
	printf '%-30s %7s  %s\n' "$@" | tee -a "$table"
}

# An error in what the script was to do; its log tells more.
broken() {
	row "$1" - "ERROR: $2"
	cat "$log" >&2
}

# Runs the suite up to the first failure; says what happened.
test_mutant() {
	begin=$(date +%s)
	by=
	run meson test -C "$build" --no-rebuild --maxfail=1 ||
		by=$(culprit | paste -s -d ' ')
	seconds=$(($(date +%s) - begin))
	if [ "$status" = 0 ]; then
		row "$1" "$seconds" "NOT CAUGHT"
	elif [ -z "$by" ]; then
		broken "$1" "no test failed, but meson did"
	else
		row "$1" "$seconds" "$by"
		caught=$((caught + 1))
	fi
}

try_mutant() {
	total=$((total + 1))
	patch_copy "$here/$1.patch" || {
		broken "$1" "does not apply"
		return
	}
	if ! run meson compile -C "$build"; then
		broken "$1" "does not compile"
	elif [ "$mode" = check ]; then
		caught=$((caught + 1))
	else
		test_mutant "$1"
	fi
	unpatch_copy "$here/$1.patch"
}

# ---- the whole -------------------------------------------------------------

case ${1-} in
--list)
	list_mutants
	exit
	;;
--check)
	mode=check
	shift
	;;
-*)
	fail "unknown option $1; there are --list and --check"
	;;
esac
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(list_mutants)
for mutant; do
	[ -f "$here/$mutant.patch" ] || fail "no mutant $mutant"
done

get_tools
copy_tree
if [ "$mode" = check ]; then
	build_unbroken
	verb=compiled
else
	test_unbroken
	verb=caught
fi
for mutant; do
	try_mutant "$mutant"
done
[ "$mode" = check ] || {
	echo
	printf '%-30s %7s  %s\n' mutant seconds "caught by"
	cat "$table"
}
echo "$name: $caught of $total $verb"
[ "$caught" = "$total" ]
