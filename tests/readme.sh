#!/bin/sh
# tests/readme.sh: runs every command that README.md prints and compares what comes out with what stands there.
#
# In a block that opens with ```console, a line "$ COMMAND" is a command and the lines up to the next one are its output,
# stdout and stderr together. "[...]" as a line stands for any lines. git clone, cd and the installing part of
# ./quickstart are not run; the output of ./quickstart is that of its last part.
#
# With --write (STEPLINE and STEPLINE_SOURCE set) what comes out replaces what stands there, but where there is a "[...]".
set -eu
write=${1:-}
readme=$STEPLINE_SOURCE/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/run"
ln -s "$STEPLINE" "$work/bin/stepline"
PATH=$work/bin:$PATH
export PATH
mkdir "$work/run/tests"
ln -s "$STEPLINE_SOURCE/scenarios" "$work/run/scenarios"
ln -s "$STEPLINE_SOURCE/tests/data" "$work/run/tests/data"
cd "$work/run"

# Cuts the blocks into numbered pairs N.cmd and N.out.
awk -v dir="$work" '
    /^```console$/ { inside = 1; next }
    /^```$/ { inside = 0; next }
    !inside { next }
    /^\$ / { n++; print substr($0, 3) > (dir "/" n ".cmd"); printf "" > (dir "/" n ".out"); next }
    n { print > (dir "/" n ".out") }
    END { print n > (dir "/count") }' "$readme"

count=$(cat "$work/count")
run=0 failed=0 n=0
while [ "$n" -lt "$count" ]; do
    n=$((n + 1))
    command=$(cat "$work/$n.cmd")
    case $command in
    "git clone"* | "cd "* | "./quickstart check" | "make "* | "./configure"* | "../configure"* | "./autogen.sh"* | "mkdir "* | "apt-get "* | "sudo "*) continue ;;
    ./quickstart) command="$STEPLINE_SOURCE/quickstart demo" ;;
    esac
    run=$((run + 1))
    sh -c "$command" >"$work/found" 2>&1 </dev/null || true
    if ! awk -v found="$work/found" '
        BEGIN { while ((getline line < found) > 0) have[++m] = line; at = 1 }
        $0 == "[...]" { skip = 1; next }
        { if (skip) { while (at <= m && have[at] != $0) at++; skip = 0 }
          if (at > m || have[at] != $0) { bad = 1; exit }
          at++ }
        END { exit bad || (!skip && at <= m) }' "$work/$n.out"; then
        if [ "$write" = --write ] && ! grep -qxF '[...]' "$work/$n.out"; then
            cp "$work/found" "$work/$n.out"
            continue
        fi
        failed=$((failed + 1))
        echo "README.md: $command"
        diff -u "$work/$n.out" "$work/found" | sed 1,2d || true
    fi
done
if [ "$write" = --write ]; then
    awk -v dir="$work" '
        /^```console$/ { inside = 1 }
        /^```$/ { inside = 0 }
        inside && /^\$ / { n++; print; while ((getline line < (dir "/" n ".out")) > 0) print line; next }
        inside && n && !/^```/ { next }
        { print }' "$readme" >"$work/readme"
    cp "$work/readme" "$readme"
fi
echo "$run commands of README.md run, $failed differ"
[ "$run" -gt 5 ] && [ "$failed" = 0 ]
