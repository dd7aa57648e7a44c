#!/bin/sh
# tests/memory.sh: "stepline memory" against the ZeRO figures of both documents, as a person would ask for them: model
# states, whether they fit a card of 80 GiB, and the exit status.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0 failed=0

complain() {
    failed=$((failed + 1))
    printf '%s\n' "$*"
}

# value KEY: of the object that was printed last, the first of that name.
value() { sed -n "s/^  \"$1\" : \([^,]*\),*\$/\1/p" "$work/j" | head -n 1; }

# figure MODEL WORKERS STAGE KEY PRINTED DIGITS UNIT_BYTES
figure() {
    checks=$((checks + 1)) status=0
    "$STEPLINE" memory --model "$1" --dp "$2" --zero "$3" --json >"$work/j" || status=$?
    found=$(awk -v bytes="$(value "$4")" -v unit="$7" -v digits="$6" 'BEGIN { printf "%." digits "f", bytes / unit }')
    [ "$found" = "$5" ] || complain "$1, $2 workers, stage $3, $4: found $found, printed $5"
    fits=$(value fits)
    case $status$fits in
    0true | 3false) ;;
    *) complain "$1, $2 workers, stage $3: exit status $status, fits $fits" ;;
    esac
}

# key QUANTITY: as the JSON has it.
key() {
    case $1 in
    total | per_gpu) echo model_states_bytes ;;
    *) echo "$1_bytes" ;;
    esac
}

sed -n 's/^zero,d=\([0-9]*\) stage \([0-3]\),\([a-z]*\),\([0-9.]*\),GB,\([0-9]\)$/\1 \2 \3 \4 \5/p' \
    "$STEPLINE_SOURCE/validation/data/deck.csv" >"$work/deck"
while read -r workers stage quantity printed digits; do
    figure llama-7b "$workers" "$stage" "$(key "$quantity")" "$printed" "$digits" 1e9
done <"$work/deck"
sed -n 's/^zero,none (plain DDP),/zero,stage 0,/; s/^zero,stage \([0-3]\),\(per_gpu\),\([0-9.]*\),GiB,\([0-9]\)$/\1 \2 \3 \4/p' \
    "$STEPLINE_SOURCE/validation/data/primer.csv" >"$work/primer"
while read -r stage quantity printed digits; do
    figure primer-7b 8 "$stage" "$(key "$quantity")" "$printed" "$digits" 1073741824
done <"$work/primer"

# The primer's column "fits": plain data parallelism does not, the others do, activations of one sequence and all.
for stage in 0 1 2 3; do
    checks=$((checks + 1)) status=0
    "$STEPLINE" memory --model primer-7b --dp 8 --zero $stage >"$work/text" || status=$?
    [ "$status" = "$([ $stage = 0 ] && echo 3 || echo 0)" ] || complain "primer-7b, stage $stage: exit status $status"
done

# A scenario is the same question.
"$STEPLINE" memory llama7b-64xh100-wait --json >"$work/j" || true
checks=$((checks + 1))
[ "$(value model_states_bytes)" = 107810390016 ] || complain "llama7b-64xh100-wait: $(value model_states_bytes) bytes of states"

echo "$checks questions of memory, $failed wrong"
[ "$failed" = 0 ] && [ "$checks" -ge 41 ]
