#!/bin/sh
# tests/fit.sh: "stepline fit" as a person types it: output, JSON, a machine beside it, refusals and exit statuses
set -u
data=$STEPLINE_SOURCE/tests/data/nccl-tests
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT
fails=0

# check STATUS WORDS ARGUMENT...: the status, and words somewhere in what was printed
check() {
    wanted=$1 words=$2
    shift 2
    "$STEPLINE" fit "$@" >"$out" 2>"$err"
    found=$?
    if [ "$found" != "$wanted" ] || ! grep -qF -- "$words" "$out" "$err"; then
        echo "fit $*: status $found, wanted $wanted and '$words'; printed:"
        cat "$out" "$err"
        fails=1
    fi
}

check 0 'law        T = min(10 us + 1.75 S / 20 GB/s, 40 us + 1.75 S / 100 GB/s)' "$data/old.txt"
check 0 'all-reduce on 8 ranks of Example GPU X1: 13 sizes, 4 B to 64 MiB' "$data/old.txt"
check 0 'latency    10.01 us (median up to 8 KiB)' "$data/old.txt"
check 0 '1048576      58.35 us      ' --machine deck-nvlink-8 "$data/old.txt"
check 0 '10.02 us' --machine deck-network-400g --op all-to-all "$data/newest.txt"
check 0 'send-recv on 16 ranks' --op send-recv "$data/newest.txt"
check 0 '"ranks" : 24,' --json "$data/tagged.txt"
check 0 '"simulated_s" : ' --json --machine deck-nvlink-8 "$data/report.json"
check 0 '--ranks 16, but the log'"'"'s figures are those of 24 ranks' --ranks 16 "$data/tagged.txt"
check 1 'found no run of broadcast, wanted one (--op)' --op broadcast "$data/old.txt"
check 1 '16 ranks: ' --machine deck-nvlink-8 "$data/alltoall-old.txt"
check 1 'all-reduce on 8 ranks' "$data/old.txt" /no/such.log
check 1 '/no/such.log: no such file' /no/such.log "$data/old.txt"
check 2 'wanted 2 to 16777216' --ranks 1 "$data/old.txt"
check 2 "did you mean 'all-reduce'?" --op allreduce "$data/old.txt"
check 2 'wanted: stepline fit LOG...'
printf 'bytes,us\n1024,10\n1048576,30\n16777216,200\n' >"$out.csv"
trap 'rm -f "$out" "$err" "$out.csv"' EXIT
check 0 'all-reduce assumed (--op)' "$out.csv"
check 0 'all-gather on 4 ranks' --op all-gather --ranks 4 "$out.csv"
check 2 'found no number of ranks, wanted --ranks N beside --machine' --machine deck-nvlink-8 "$out.csv"
exit $fails
