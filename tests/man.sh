#!/bin/sh
# tests/man.sh: the man pages say what the program does: options against --help, keys against the readers' source and
# the program, columns against the database, JSON keys against the output; every example is run.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
man=$STEPLINE_SOURCE/man
mkdir "$work/bin"
ln -s "$STEPLINE" "$work/bin/stepline"
PATH=$work/bin:$PATH
export PATH
checks=0 failed=0

complain() {
    failed=$((failed + 1))
    printf '%s\n' "$*"
}

# same WHAT DOCUMENTED FOUND: two lists of words, one a line in sorted files, are the same.
same() {
    checks=$((checks + $(wc -l <"$3")))
    [ -s "$3" ] || complain "$1: found none"
    for word in $(comm -23 "$2" "$3"); do complain "$1: $word stands in the manual and is not there"; done
    for word in $(comm -13 "$2" "$3"); do complain "$1: $word is not in the manual"; done
}

# A page's text without what roff needs: "\-" is "-", fonts are dropped.
plain() { sed -e 's/\\-/-/g' -e 's/\\(dq/"/g' -e 's/\\f[BIR]//g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g' "$1"; }

# The pages render without a warning.
for page in stepline.1 stepline-scenario.5 stepline-db.5; do
    plain "$man/$page" >"$work/$page"
    checks=$((checks + 1))
    if command -v groff >/dev/null; then
        groff -man -ww -Tutf8 "$man/$page" 2>&1 >/dev/null | grep . && complain "$page: groff complains"
    else
        echo "SKIPPED: no groff: $page is not rendered"
    fi
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -W warning "$man/$page" || complain "$page: mandoc complains"
    fi
done

# Options: those of the page between ".SS COMMAND" and the next one, and those of COMMAND --help.
stepline --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort >"$work/commands"
sed -n '/^\.SH COMMANDS/,/^\.SH UNITS/s/^\.SS //p' "$work/stepline.1" | sort >"$work/documented"
same "commands of stepline.1" "$work/documented" "$work/commands"
while read -r command; do
    awk -v start=".SS $command" '$0 == start { on = 1; next } /^\.S[SH]/ { on = 0 } on && tagged { print } { tagged = $0 == ".TP" }' \
        "$work/stepline.1" | grep -o -e '--[a-z][a-z-]*' | sort -u >"$work/documented"
    stepline "$command" --help | sed -n '/^Application Options:/,$p' | sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' |
        sort -u >"$work/found"
    same "options of stepline $command" "$work/documented" "$work/found"
done <"$work/commands"

# keys PAGE "SH title" "[section]": the keys that stand below it.
keys() {
    awk -v part=".SH \"$2\"" -v section=".SS $3" '/^\.SH/ { in_part = $0 == part } /^\.SS/ { on = in_part && $0 == section }
        on && tagged && /^\.B / { print $2 } { tagged = $0 == ".TP" || $0 == ".TQ" }' "$work/$1" | sort -u
}

# literals FILE EXPRESSION: what the parenthesis of a sed expression matches, anywhere, lines joined.
literals() { tr '\n' ' ' <"$STEPLINE_SOURCE/$1" | grep -oE "$2" | sed -E "s/^$2\$/\1/" | sort -u; }

page=stepline-scenario.5
for section in scenario model machine job compute reality collective simulate; do
    keys $page "SCENARIO FILES" "[$section]" >"$work/documented"
    {
        literals scenarios/scenario.c "ini_[a-z_]*\(ini, \"$section\", +\"([a-z_0-9]+)\""
        [ $section != job ] || {
            literals scenarios/section-job.c 'ini_get[a-z_]*\(ini, "job", +"([a-z_]+)"'
            literals scenarios/section-job.c 'job_[a-z]+\(ini, +"([a-z_]+)"'
        }
        # What a node needs beside it.
        [ $section != machine ] || literals machines/kind-nodes.c 'machine_kind_get_[a-z]*\(file, "([a-z_]+)", INI_REQUIRED'
    } | sort -u >"$work/found"
    same "keys of a scenario's [$section]" "$work/documented" "$work/found"
done
keys $page "MODEL FILES" "[model]" >"$work/documented"
{
    literals models/spec.c '\{"([a-z_]+)", &spec->'
    literals models/spec.c 'ini_get[a-z_]*\(ini, SECTION, +"([a-z_]+)"'
} | sort -u >"$work/found"
same "keys of a model's file" "$work/documented" "$work/found"
keys $page "MACHINE FILES" "[machine]" >"$work/documented"
{
    literals machines/machine.c 'ini_get[a-z_]*\(ini, SECTION, +"([a-z_]+)"'
    # The kinds' own lists of keys, and those that they share.
    for file in "$STEPLINE_SOURCE"/machines/*.[ch]; do
        tr '\n\\' '  ' <"$file" | grep -oE '(KEYS\[\] = \{|define MACHINE_[A-Z]+_KEYS )[A-Z_ ,]*("[a-z0-9_]+",? *|[A-Z_]+, *)+' | grep -oE '"[a-z0-9_]+"' | tr -d '"'
    done
} | sort -u >"$work/found"
same "keys of a machine's file" "$work/documented" "$work/found"
keys $page "MACHINE FILES" "[nccl]" >"$work/documented"
literals machines/tuning.c 'ini_get_flag\(ini, SECTION, +"([a-z_]+)"' >"$work/found"
same "keys of a machine's [nccl]" "$work/documented" "$work/found"
keys $page "CHIP FILES" "[chip]" >"$work/documented"
literals topo/device.c 'ini_get[a-z_]*\(ini, "chip", +"([a-z_]+)"' >"$work/found"
same "keys of a chip's file" "$work/documented" "$work/found"
keys $page "CHIP FILES" "[peak]" >"$work/documented"
sed -n 's/.*TOPO_PRECISION_NAMES\[\] = {\(.*\), NULL};/\1/p' "$STEPLINE_SOURCE/topo/device.c" | tr -d '" ' | tr ',' '\n' | sort >"$work/found"
same "peaks of a chip's file" "$work/documented" "$work/found"

for section in efficiency burst; do
    keys $page "CHIP FILES" "[$section]" >"$work/documented"
    same "keys of a chip's [$section]" "$work/documented" "$work/found"
done
keys $page "CHIP FILES" "[compute]" >"$work/documented"
literals topo/compute.c '\{"([a-z_]+)", UNITS_[A-Z]+, &compute->' >"$work/found"
same "keys of a chip's [compute]" "$work/documented" "$work/found"
keys $page "CHIP FILES" "[attention]" >"$work/documented"
{
    literals topo/compute.c '"((rate|half)_[0-9]+)"'
    literals topo/compute.c 'backward = \{"(backward)"'
} | sort -u >"$work/found"
same "keys of a chip's [attention]" "$work/documented" "$work/found"
keys $page "FRAMEWORK FILES" "[framework]" >"$work/documented"
{
    literals plans/framework.c 'ini_get[a-z_]*\(ini, section, +"([a-z_]+)"'
    literals plans/framework.c 'framework_get\(ini, section, +"([a-z_]+)"'
} | sort -u >"$work/found"
same "keys of a framework's file" "$work/documented" "$work/found"
tr '\n' ' ' <"$STEPLINE_SOURCE/plans/framework.c" | sed -n 's/.*CLASSES\[\] = {NULL,\([^}]*\)}.*/\1/p' | tr -d '" ' | tr ',' '\n' | sort >"$work/found"
for section in bytes kernels; do
    keys $page "FRAMEWORK FILES" "[$section]" >"$work/documented"
    same "keys of a framework's [$section]" "$work/documented" "$work/found"
done

# The program knows every key that is documented for a scenario, and no other; some only beside [machine] node.
printf '[model]\nuse = gpt2\n[machine]\nnode = primer-nvlink-8\nnodes = 2\nnic = 50 GB/s\n[job]\ntokens = 16384\n[compute]\nefficiency = 0.4\n' >"$work/joined.ini"
stepline run "$work/joined.ini" >/dev/null || complain "a scenario with [machine] node fails"
small="run --model gpt2 --machine deck-nvlink-8 --gpus 2 --set job.tokens=1024 --set model.sequence=64 --set compute.efficiency=0.4"
for section in scenario model machine job compute reality collective simulate; do
    { keys $page "SCENARIO FILES" "[$section]"; [ $section != model ] || keys $page "MODEL FILES" "[model]"; } | sort -u >"$work/documented"
    while read -r key; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086 # a command and its words
        if stepline $small --set "$section.$key=?" 2>&1 | grep -q "unknown key" &&
            stepline run "$work/joined.ini" --set "$section.$key=?" 2>&1 | grep -q "unknown key"; then
            complain "$section.$key is documented and unknown"
        fi
    done <"$work/documented"
done
checks=$((checks + 1))
# shellcheck disable=SC2086
stepline $small --set job.nosuch=1 2>&1 | grep -q "unknown key" || complain "job.nosuch is known"

# Keys of JSON stand in stepline.1, those of a table's row too.
if command -v sqlite3 >/dev/null; then
    # shellcheck disable=SC2086
    stepline $small --db "$work/small.db" >/dev/null
    cp "$STEPLINE_SOURCE/tests/data/nccl-tests/old.txt" "$work/old.txt"
    while read -r arguments; do
        # shellcheck disable=SC2086
        (cd "$work" && stepline $arguments --json 2>/dev/null) >"$work/j"
        sqlite3 :memory: "SELECT DISTINCT key FROM json_tree(readfile('$work/j'))
            WHERE typeof(key) = 'text' AND key NOT LIKE '%.%' AND path NOT IN ('\$.nodes', '\$.links')" >"$work/found"
        checks=$((checks + $(wc -l <"$work/found")))
        while read -r key; do
            grep -qE "^\.BR? $key( |\$)" "$work/stepline.1" || grep -qE "^\.BR?I? .*\b$key\b" "$work/stepline.1" ||
                grep -qxE "\.B $key" "$work/stepline-scenario.5" || complain "stepline $arguments --json: $key is not in stepline.1"
        done <"$work/found"
    done <<END
list models
model show gpt2
topo show wan-2x32
topo routes wan-2x32 gpu0 gpu8
collective --machine deck-nvlink-8 --size 1MB
collective --machine dgx-h100 --ranks 16 --sizes 1KiB..4KiB
fit old.txt --machine dgx-h100
validate collectives --family h800-nvlink
validate buckets
validate layers
validate reports --report 59
calc --params 7e9 --gpus 8 --measured 30000
memory --model gpt2 --dp 2
tables primer
runs small.db
sweep links --set machine.use=primer-nvlink-8;pcie4-8 --set job.batch=8;16
$small
$small --set job.zero=1
END

    # Tables, views and columns.
    : >"$work/documented.all"
    for part in TABLES VIEWS; do
        sed -n "/^\.SH $part/,/^\.SH [^$(printf %.1s $part)]/s/^\.SS //p" "$work/stepline-db.5" >>"$work/documented.all"
    done
    sort "$work/documented.all" >"$work/documented"
    sqlite3 "$work/small.db" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')" | sort >"$work/tables"
    same "tables of stepline-db.5" "$work/documented" "$work/tables"
    while read -r table; do
        awk -v start=".SS $table" '$0 == start { on = 1; next } /^\.S[SH]/ { on = 0 } on && tagged && /^\.B / { print $2 }
            { tagged = $0 == ".TP" || $0 == ".TQ" }' "$work/stepline-db.5" | sort >"$work/documented"
        sqlite3 "$work/small.db" "SELECT name FROM pragma_table_info('$table')" | sort >"$work/found"
        same "columns of $table" "$work/documented" "$work/found"
    done <"$work/tables"
    for pragma in application_id user_version; do
        checks=$((checks + 1))
        value=$(sqlite3 "$work/small.db" "PRAGMA $pragma")
        awk -v line=".B PRAGMA $pragma" 'before && index($0, "is ") == 1 { print } { before = $0 == line }' "$work/stepline-db.5" |
            grep -q "^is $value\b" || complain "stepline-db.5: PRAGMA $pragma is $value"
    done
else
    echo "SKIPPED: no sqlite3 shell: JSON, tables and queries are not checked"
fi

# Examples, each page in a folder of its own: a block that starts with "# NAME" is a file, one that starts with a command
# is a script.
for page in stepline.1 stepline-scenario.5 stepline-db.5; do
    mkdir "$work/run"
    cd "$work/run"
    awk '/^\.EX/ { n++; on = 1; next } /^\.EE/ { on = 0 } on { print > ("block." n) } END { print n > "count" }' "$work/$page"
    count=$(cat count) n=0
    while [ "$n" -lt "$count" ]; do
        n=$((n + 1))
        first=$(head -n 1 "block.$n")
        case $first in
        "# "*)
            cp "block.$n" "${first#\# }"
            continue
            ;;
        "stepline "* | "sqlite3 "*) ;;
        *) continue ;;
        esac
        command -v sqlite3 >/dev/null || sed -i '/^sqlite3/d' "block.$n"
        if ! command -v gnuplot >/dev/null && grep -q '^stepline plot' "block.$n"; then
            echo "SKIPPED: no gnuplot: the picture of $page is not drawn"
            sed -i '/^stepline plot/d' "block.$n"
        fi
        checks=$((checks + $(grep -c '^[a-z]' "block.$n")))
        sh -eu "block.$n" >out 2>err </dev/null || complain "$page: an example fails: $first: $(cat err)"
        [ -s out ] || grep -q "CREATE INDEX" "block.$n" || complain "$page: an example prints nothing: $first"
    done
    cd "$work"
    rm -rf "$work/run"
done

echo "$checks options, keys, columns and examples of the manual, $failed wrong"
[ "$failed" = 0 ] && [ "$checks" -gt 300 ]
