#!/bin/sh
# tests/published.sh: published runs from a user's table: the same for any number of threads, the same as the scenario
# that --run prints, left out with a reason where they cannot be run; wrong tables and words are refused.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=$STEPLINE_SOURCE/validation/data/runs.csv
checks=0 failed=0

hold() { # WHAT COMMAND...
    what=$1
    shift
    checks=$((checks + 1))
    "$@" || { failed=$((failed + 1)); echo "does not hold: $what"; }
}

# A table of a few runs: columns by name, one run of our own with an unknown chip.
grep -v '^#' "$table" | sed -n 1p >"$work/runs.csv"
grep -E '^(narayanan21_t1_1.7B_32|dgxc_llama8b_v24.11.1_BF16_H100_8|korth22_layer22B_sp|mbridge_26.04_llama3-70B_GB200_64_NVFP4[^,]*),' "$table" >>"$work/runs.csv"
grep -E '^narayanan21_t1_1.7B_32,' "$table" | sed -e 's/^[^,]*/strange/' -e 's/A100-SXM-80GB/Abacus/' >>"$work/runs.csv"
rows=$(($(wc -l <"$work/runs.csv") - 1))
"$STEPLINE" validate --points "$work/runs.csv" --csv --jobs 1 >"$work/one.csv"
"$STEPLINE" validate --points "$work/runs.csv" --csv --jobs 3 >"$work/three.csv"
hold "the same for 1 and 3 threads" cmp "$work/one.csv" "$work/three.csv"
hold "a line a run" [ "$(wc -l <"$work/one.csv")" = $((rows + 1)) ]
hold "an unknown chip is left out with a reason" grep -q '^strange,.*no machine of the library has its chip' "$work/one.csv"
"$STEPLINE" validate --points "$work/runs.csv" >"$work/text"
hold "left-out rows are counted" grep -q '^left out: 1 row: no machine of the library has its chip' "$work/text"
hold "and are no part of the scores" grep -Eq "^calib +$((rows - 1)) " "$work/text"

# The scenario of a run gives the run's step.
for id in narayanan21_t1_1.7B_32 dgxc_llama8b_v24.11.1_BF16_H100_8; do
    "$STEPLINE" validate --run $id >"$work/$id.ini"
    step=$("$STEPLINE" run "$work/$id.ini" --json | sed -n 's/^ *"step_s" : \([0-9.e-]*\).*/\1/p')
    csv=$(grep "^$id," "$work/one.csv" | cut -d, -f11)
    hold "$id: run gives $step, validate $csv" awk -v a="$step" -v b="$csv" 'BEGIN { d = a / b - 1; exit !(d < 1e-5 && d > -1e-5) }'
done

refused() { # STATUS WANTED WORDS...
    status=$1 wanted=$2
    shift 2
    code=0
    message=$("$STEPLINE" "$@" 2>&1 >/dev/null) || code=$?
    hold "$*: status $code, '$message'; wanted $status, '$wanted'" [ "$code" = "$status" ]
    hold "$*: '$message', wanted '$wanted'" eval 'case $message in *"$wanted"*) true ;; *) false ;; esac'
}
sed -n 1p "$work/runs.csv" >"$work/empty.csv"
refused 1 "found no run" validate --points "$work/empty.csv"
refused 1 "nowhere.csv" validate --points "$work/nowhere.csv"
refused 1 "run_id" validate --points "$STEPLINE_SOURCE/validation/data/models.csv"
refused 2 "did you mean" validate --run narayanan21_t1_1.7B_33
refused 2 "wanted 1 to 256" validate --jobs 0
echo "$checks checks, $failed failed"
[ "$failed" = 0 ]
