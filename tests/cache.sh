#!/usr/bin/env bash
# tests/cache.sh: the file of measured collectives is found again, and whatever becomes of it, a run gives the same result.
set -uo pipefail
stepline=${STEPLINE:-./stepline}
checks=0 wrong=0
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'chmod -R u+w "$XDG_CACHE_HOME"; rm -rf "$XDG_CACHE_HOME"' EXIT
file=$XDG_CACHE_HOME/stepline/collectives.db

run() { "$stepline" run llama3-405b-8192 --set machine.gpus=128 --set job.batch=16 --set simulate.fidelity=folded "$@" 2>&1; }
print() { run "$@" | sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p'; }
sql() { sqlite3 -cmd '.timeout 5000' "$file" "$1"; }

holds() { # NAME COMMAND...
    local name=$1
    shift
    checks=$((checks + 1))
    if ! "$@"; then
        wrong=$((wrong + 1))
        echo "WRONG: $name"
    fi
}

same() { [ "$(print)" = "$wanted" ]; }
found() { run --assumptions | grep "and $1 found in the cache" >/dev/null; }

wanted=$(print --set simulate.cache=no)
[ -n "$wanted" ] || { echo "WRONG: no run: $(run | head -3)"; exit 1; }
holds "simulate.cache = no leaves no file" test ! -e "$file"
holds "the first run" same
all=$(run --assumptions | sed -n 's/.* of which 0 were measured by messages and \([0-9]*\) found.*/\1/p')
holds "all are found by the second" test "${all:-0}" -gt 3
command -v sqlite3 >/dev/null || { echo "SKIP: no sqlite3"; exit 77; }
for change in 'time = time * 2' 'spread = -1' 'messages = 1' "shares = x'00'" "shares = zeroblob(length(shares))" \
    'sum = sum + 1' "time = 'long'" "shares = zeroblob(3000000)"; do
    holds "set to be changed: $change" sql "UPDATE collective SET $change"
    holds "not believed: $change" same
    holds "and mended: $change" found "$all"
done
holds "one row dropped" sql 'DELETE FROM collective WHERE key = (SELECT min(key) FROM collective)'
holds "that one is measured" found $((all - 1))
sql 'DROP TABLE collective'
sql 'CREATE TABLE collective (key TEXT)'
holds "another table of that name" same
printf 'no database at all\n' >"$file"
holds "a file that is no database" same
rm -f "$file" && mkdir "$file"
holds "a folder of that name" same
rmdir "$file" && : >"$file" && chmod a-w "$file" "${file%/*}"
holds "a file that cannot be written" same
chmod u+w "$file" "${file%/*}"
rm -rf "${file%/*}" && : >"${file%/*}"
holds "no folder can be made" same
rm -f "${file%/*}"
for i in 1 2 3 4; do print >"$XDG_CACHE_HOME/$i" & done
wait
for i in 1 2 3 4; do holds "run $i of four at a time" test "$(cat "$XDG_CACHE_HOME/$i")" = "$wanted"; done
holds "after them" found "$all"
echo "$checks checks of the cache, $wrong wrong"
[ "$wrong" = 0 ]
