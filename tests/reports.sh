#!/bin/sh
# tests/reports.sh: published buckets, layers and reports come out as tests/data/reports.txt has them, all agree, and every
# answer is what the command that stands beside it prints. With --write tests/data/reports.txt is written.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$STEPLINE_SOURCE" # asks name scenarios by their path
golden=tests/data/reports.txt
checks=0 failed=0

complain() {
    failed=$((failed + 1))
    printf '%s\n' "$*"
}

for word in buckets layers reports; do
    checks=$((checks + 1)) status=0
    "$STEPLINE" validate $word >"$work/part" || status=$?
    [ "$status" = 0 ] || complain "validate $word: exit status $status"
    cat "$work/part" >>"$work/text"
done
if [ "${1:-}" = --write ]; then
    cp "$work/text" $golden
fi
diff -u $golden "$work/text" || complain "answers have changed; if they should: tests/reports.sh --write"

# Reports that the project promised.
for report in 1 2 20 34 38 59 69 73 78 80 83 88 109; do
    checks=$((checks + 1))
    grep -q "^$report: " "$work/text" || complain "report $report is missing"
done

# ask COMMAND KEY: what stepline itself prints for a question.
ask() {
    case $1 in
    "validate buckets")
        # "MODEL_CAP_N": model, cap, its unit, bucket, published, ours.
        "$STEPLINE" validate buckets | awk -v key="$2" '$1 "_" $2 "_" $4 == key { print $6 }'
        ;;
    *--schedule*)
        # "warm_up_R": the F before the first B of stage R's row, less the one of the turn.
        eval "\"\$STEPLINE\" $1" | sed -n "$((${2#warm_up_} + 2))p" | sed 's/B.*//' | grep -o F | wc -l | awk '{ print $1 - 1 }'
        ;;
    *)
        eval "\"\$STEPLINE\" $1 --json" >"$work/answer" || true # 3: does not fit
        sed -n "s/^ *\"$2\" : \([^,]*\),*\$/\1/p" "$work/answer" | head -n 1
        ;;
    esac
}

# value WORDS KEY: the same, remembered.
value() {
    [ -n "$1" ] || { echo 0; return; }
    name=$(printf '%s' "$1 $2" | cksum | tr ' ' -)
    [ -f "$work/value.$name" ] || ask "$1" "$2" >"$work/value.$name"
    cat "$work/value.$name"
}

for word in layers reports; do
    "$STEPLINE" validate $word --json >"$work/json"
    # One line a figure, fields between tabs; null is empty.
    awk -v OFS='\t' '
        /^    \{/ { split("", row) }
        match($0, /^      "[a-z_]+" : /) {
            key = substr($0, 8, RLENGTH - 11)
            text = substr($0, RLENGTH + 1)
            sub(/,$/, "", text)
            if (text ~ /^"/)
                text = substr(text, 2, length(text) - 2)
            row[key] = text == "null" ? "-" : text
        }
        /^    \}/ { print row["report"] " " row["figure"], row["ask"], row["key"], row["less"], row["over"], row["over_key"], row["over_less"], row["simulated"] }' "$work/json" >"$work/rows"
    while IFS="$(printf '\t')" read -r figure command key less over over_key over_less simulated; do
        [ "$key" != - ] || continue
        checks=$((checks + 1))
        for name in less over over_key over_less; do
            eval "[ \"\$$name\" != - ] || $name="
        done
        top=$(value "$command" "$key") off=$(value "$less" "$key")
        under=1 under_off=0
        if [ -n "$over" ]; then
            under=$(value "$over" "${over_key:-$key}") under_off=$(value "$over_less" "${over_key:-$key}")
        fi
        awk -v a="$top" -v b="$off" -v c="$under" -v d="$under_off" -v wanted="$simulated" \
            'BEGIN { x = (a - b) / (c - d) / wanted - 1; exit !(x < 1e-6 && x > -1e-6) }' </dev/null ||
            complain "$figure: validate says $simulated, the command ($top - ${off:-0}) / ($under - $under_off)"
    done <"$work/rows"
done

# One report alone says what was asked, and how.
"$STEPLINE" validate reports --report 34 >"$work/one"
checks=$((checks + 1))
grep -q '^  known ' "$work/one" && grep -q 'stepline run validation/reports/034' "$work/one" || complain "--report 34: $(cat "$work/one")"

echo "$checks published answers and commands, $failed wrong"
[ "$failed" = 0 ] && [ "$checks" -gt 50 ]
