#!/bin/sh
# tests/sweep.sh: 'stepline sweep' as a user meets it: the what-ifs of the library come out as their files say, the same
# for any number of jobs; a kill at any moment loses no point that is through; failures are counted and stop nothing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0 failed=0

complain() {
    failed=$((failed + 1))
    printf '%s\n' "$*"
}

# field FILE COLUMN KEY=VALUE...: the column in the one row of a CSV that has these values.
field() {
    file=$1 column=$2
    shift 2
    awk -F, -v column="$column" -v wanted="$(IFS=,; echo "$*")" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, keys, ","); next }
        { for (i = 1; i <= n; i++) { split(keys[i], pair, "="); if ($at[pair[1]] != pair[2]) next } print $at[column] }' "$file"
}

# holds EXPRESSION: arithmetic that must be true.
holds() {
    checks=$((checks + 1))
    awk "BEGIN { exit !($1) }" || complain "$name: $1 does not hold"
}

# sweep NAME [once]: runs a what-if of the library with one job and with two: what comes out is the same to the byte.
sweep() {
    name=$1
    "$STEPLINE" sweep "$name" --csv --jobs 1 >"$name.csv" || complain "$name fails"
    [ "${2:-}" != once ] || return 0
    "$STEPLINE" sweep "$name" --csv --jobs 2 >"$name.2" || complain "$name fails with --jobs 2"
    checks=$((checks + 1))
    cmp -s "$name.csv" "$name.2" || complain "$name: --jobs 1 and --jobs 2 differ"
}

# A bucket that is too small pays latency, one that is too large cannot hide; LLaMA minds only the largest.
sweep bucket-size
step() { field bucket-size.csv step_s "job.bucket=$1" "model.use=$2"; }
for size in '1 MiB' '4 MiB' '8 MiB' '16 MiB' '50 MiB' '100 MiB' '200 MiB' whole; do
    holds "$(step '25 MiB' gpt2-medium) < $(step "$size" gpt2-medium)"
done
holds "$(step '1 MiB' gpt2-medium) > 2.6 * $(step '25 MiB' gpt2-medium)"
holds "$(step whole gpt2-medium) > 1.2 * $(step '25 MiB' gpt2-medium)"
holds "$(step '200 MiB' llama-7b) < 1.003 * $(step '1 MiB' llama-7b)"
holds "$(step whole llama-7b) > 1.3 * $(step '1 MiB' llama-7b)"

# Overlap hides nearly all on the fast networks, and on the slow one as much as the backward pass lasts (2/3 of compute).
sweep overlap
exposed() { field overlap.csv exposed_comm_s "machine.use=$1" "job.overlap=$2"; }
holds "$(exposed deck-network-400g yes) < 0.02 * $(exposed deck-network-400g no)"
holds "$(exposed dgx-h100 yes) < 0.02 * $(exposed dgx-h100 no)"
holds "$(exposed dgx-h100 no) < 0.2 * $(exposed deck-network-400g no)"
holds "$(exposed deck-wan-100g yes) > 1.1 && $(exposed deck-wan-100g yes) < 1.2"
holds "$(exposed deck-wan-100g no) - $(exposed deck-wan-100g yes) < 0.667 * $(field overlap.csv compute_s machine.use=deck-wan-100g job.overlap=no)"

# Sharding: less memory with every stage; ZeRO 1 as many bytes as DDP; ZeRO 3 wins with one micro-batch, loses with four.
sweep zero-stages
zero() { field zero-stages.csv "$1" "job.zero=$2" "job.tokens=$3"; }
for tokens in 262144 1048576; do
    for stage in 0 1 2; do
        holds "$(zero memory_peak_bytes $stage $tokens) > 1.3 * $(zero memory_peak_bytes $((stage + 1)) $tokens)"
    done
    holds "$(zero exposed_comm_s 0 $tokens) == $(zero exposed_comm_s 1 $tokens)"
    holds "$(zero step_s 1 $tokens) < $(zero step_s 0 $tokens)"
    holds "\"$(zero fits 0 $tokens) $(zero fits 1 $tokens) $(zero fits 3 $tokens)\" == \"false true true\""
done
holds "$(zero step_s 2 262144) == $(zero step_s 1 262144) && $(zero step_s 2 1048576) > 1.1 * $(zero step_s 1 1048576)"
holds "$(zero step_s 3 262144) < 0.9 * $(zero step_s 2 262144)"
holds "$(zero step_s 3 1048576) > 1.5 * $(zero step_s 1 1048576)"

# Links: the primer's own figures for the sync, waited for.
sweep links
link() { field links.csv "$1" "machine.use=$2" "job.overlap=$3"; }
sync() { link exposed_comm_s "$1" no; }
holds "$(sync primer-nvlink-8) > 0.0272 && $(sync primer-nvlink-8) < 0.0273"
holds "$(sync primer-pcie4-8) > 0.979 && $(sync primer-pcie4-8) < 0.981"
holds "$(sync primer-100g-8) > 1.959 && $(sync primer-100g-8) < 1.961"
holds "$(sync primer-10g-8) > 19.59 && $(sync primer-10g-8) < 19.61"
holds "$(link mfu primer-nvlink-8 yes) > 0.39 && $(link mfu primer-pcie4-8 yes) < 0.16 && $(link mfu primer-10g-8 yes) < 0.01"

# Workers: the share of communication grows with each doubling, and on the slow network the last one makes the step longer.
sweep workers
share() { echo "$(field workers.csv exposed_comm_s "machine.gpus=$1" "machine.use=$2") / $(field workers.csv step_s "machine.gpus=$1" "machine.use=$2")"; }
for machine in deck-wan-100g deck-network-400g; do
    for gpus in 8 16 32 64; do
        holds "$(share $gpus $machine) < $(share $((2 * gpus)) $machine)"
        holds "$(share $((2 * gpus)) deck-network-400g) < $(share $((2 * gpus)) deck-wan-100g)"
    done
done
holds "$(share 16 deck-wan-100g) < 0.02 && $(share 64 deck-wan-100g) > 0.65 && $(share 128 deck-wan-100g) > 0.8"
holds "$(field workers.csv step_s machine.gpus=128 machine.use=deck-wan-100g) > $(field workers.csv step_s machine.gpus=64 machine.use=deck-wan-100g)"
"$STEPLINE" sweep workers --zip --set machine.use=deck-wan-100g --set 'machine.gpus=8; 128' --set 'job.batch=8; 128' --csv >weak.csv
holds "$(field weak.csv exposed_comm_s machine.gpus=8) / $(field weak.csv step_s machine.gpus=8) > 0.79"
holds "$(field weak.csv exposed_comm_s machine.gpus=128) / $(field weak.csv step_s machine.gpus=128) < 0.86"

# Accumulation: the sync stays, its share falls.
sweep accumulation
sums() { field accumulation.csv "$1" "job.batch=$2" "job.overlap=$3"; }
for batch in 8 16 32 64 128; do
    holds "$(sums exposed_comm_s $batch no) == $(sums exposed_comm_s $((2 * batch)) no)"
    holds "$(sums mfu $batch yes) < $(sums mfu $((2 * batch)) yes) && $(sums step_s $batch yes) < $(sums step_s $batch no)"
done
holds "$(sums exposed_comm_s 8 no) / $(sums step_s 8 no) > 0.8 && $(sums exposed_comm_s 256 no) / $(sums step_s 256 no) < 0.13"

# WAN: the sync alone is longer than all compute, whatever overlaps, and small buckets cross the line too often.
sweep wan-7b once
wan() { field wan-7b.csv "$1" "machine.use=$2" "job.overlap=$3" "job.bucket=$4"; }
for machine in wan-2x32 wan-100g-50ms; do
    holds "$(wan exposed_comm_s $machine no whole) > 1.3 * $(wan compute_s $machine no whole)"
    for bucket in '25 MiB' '1 GiB' whole; do
        holds "$(wan exposed_comm_s $machine yes "$bucket") > 1.3"
    done
    holds "$(wan step_s $machine yes '25 MiB') > 5 * $(wan step_s $machine yes '1 GiB')"
done
holds "$(wan exposed_comm_s dgx-h100 yes '25 MiB') < 0.002"

# Killed again and again at no chosen moment: what was through stays, and in the end all is as if nothing had been.
name=resume
many="bucket-size --set model.use=gpt2-medium --set job.bucket_split=yes --set machine.gpus=8;16;32;64"
list="job.bucket=1MiB;2MiB;3MiB;4MiB;6MiB;8MiB;12MiB;16MiB;25MiB;50MiB;100MiB;whole"
count() { if [ -s m.db ]; then "$STEPLINE" runs m.db --json 2>/dev/null | grep -c '"run" :' || true; else echo 0; fi; }
# shellcheck disable=SC2086
"$STEPLINE" sweep $many --set "$list" --csv >whole.csv
before=0 kills=0
for wait in 0.05 0.1 0.15 0.2 0.25 0.3; do
    # shellcheck disable=SC2086
    "$STEPLINE" sweep $many --set "$list" --db m.db --jobs 2 >/dev/null 2>&1 &
    pid=$!
    sleep $wait
    seen=$(count)
    if kill -9 $pid 2>/dev/null; then kills=$((kills + 1)); fi
    wait $pid 2>/dev/null || true
    after=$(count)
    holds "$after >= $seen && $after >= $before"
    before=$after
done
# shellcheck disable=SC2086
"$STEPLINE" sweep $many --set "$list" --db m.db --jobs 2 >last
grep -q "sweep 1 in m.db: $((48 - before)) points\{0,1\} run, $before there before" last || complain "resume: $(tail -n 1 last), and $before were there"
# shellcheck disable=SC2086
"$STEPLINE" sweep $many --set "$list" --db m.db --csv >again.csv
cmp -s whole.csv again.csv || complain "resume: what comes from the database differs"
holds "$(count) == 48 && $kills > 0"
# shellcheck disable=SC2086
"$STEPLINE" sweep $many --set 'job.bucket=1MiB;5MiB' --db m.db >wider
grep -q "sweep 2 in m.db: 4 points run, 4 there before" wider || complain "resume: another sweep with equal points: $(tail -n 1 wider)"

# Failures: counted, recorded, and tried again; the rest stands.
name=failures
status=0
"$STEPLINE" sweep zero-stages --set 'job.shard=8;' --set job.tokens=262144 --db f.db >out 2>err || status=$?
holds "$status == 1 && $(wc -l <err) == 1"
grep -q "^stepline: 1 of 4 points failed; it is job.zero = 0, job.shard = 8: .*job.shard: means nothing here" err || complain "failures: $(cat err)"
grep -q "^0  *8  *failed: --set: job.shard: means nothing" out || complain "failures: $(cat out)"
holds "$(grep -c ' ms ' out) >= 3"
"$STEPLINE" sweep zero-stages --set 'job.shard=8;' --set job.tokens=262144 --db f.db >out 2>err || true
grep -q "1 point run, 3 there before" out || complain "failures: $(tail -n 1 out)"
for form in json csv; do
    "$STEPLINE" sweep zero-stages --set 'job.shard=8;' --set job.tokens=262144 --$form >out 2>/dev/null && complain "failures: --$form exits 0"
    grep -q "means nothing here" out || complain "failures: --$form tells no error"
done

# A full disk is an error of the whole, and no row is lost before it.
name=disk
(ulimit -f 200 && "$STEPLINE" sweep bucket-size --set model.use=gpt2-medium --set "$list" --set 'machine.gpus=8;16;32;64' --db small.db >out 2>err) || status=$?
holds "$status == 1 && $(wc -l <err) == 1"

echo "$checks comparisons of sweeps, $failed wrong"
[ "$failed" = 0 ] && [ "$checks" -gt 80 ]
