#!/bin/sh
# tests/cli-errors.sh: wrong and hostile command lines and files: each is refused with its exit status in one printable
# line that names what is wrong; nothing is printed on stdout and no file is made, changed or left behind.
set -eu
work=$(mktemp -d)
trap 'chattr -i "$work/box/locked" 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/box"
cd "$work/box"
cases=0 failed=0 skipped=0
esc=$(printf '\033')

complain() {
    failed=$((failed + 1))
    printf '%s\n' "$*"
}

skip() {
    skipped=$((skipped + 1))
    printf 'SKIPPED: %s\n' "$*"
}

# All files here, with sizes and times of change. A folder's own time may change: a file was made and removed.
listing() { find . -type f -printf '%p %s %T@ %C@\n' -o -printf '%p\n'; }

# check STATUS 'WORDS|WORDS' ARGUMENT...: stepline's exit status, and what stderr must hold.
check() {
    status=$1 words=$2
    shift 2
    cases=$((cases + 1)) found=0
    before=$(listing)
    "$STEPLINE" "$@" >"$work/out" 2>"$work/err" </dev/null || found=$?
    after=$(listing)
    err=$(cat "$work/err")
    label="$cases. stepline $1 ${2:-}: "
    [ "$found" = "$status" ] || complain "$label exit status $found, wanted $status: $err"
    [ ! -s "$work/out" ] || complain "$label something on stdout"
    [ "$before" = "$after" ] || complain "$label files changed: $after"
    [ ${#err} -lt 5000 ] || complain "$label ${#err} bytes on stderr"
    case $err in
    "") complain "$label nothing on stderr" ;;
    *[[:cntrl:]]*) complain "$label more than one line, or control characters, on stderr" ;;
    *[!\ -~]*) iconv -f UTF-8 -t UTF-8 "$work/err" >/dev/null 2>&1 || complain "$label stderr is not UTF-8" ;;
    esac
    while [ -n "$words" ]; do
        case $err in
        *"${words%%|*}"*) ;;
        *) complain "$label wanted '${words%%|*}' in: $err" ;;
        esac
        case $words in *"|"*) words=${words#*|} ;; *) words= ;; esac
    done
}

# machine FILE KIND LINE...: a machine's file.
machine() {
    file=$1 kind=$2
    shift 2
    printf '[machine]\nchip = h100-sxm\nkind = %s\n' "$kind" >"$file"
    printf '%s\n' "$@" >>"$file"
}

wait=llama7b-64xh100-wait

# Commands, words and options.
check 2 "unknown command 'rnu'|did you mean 'run'?" rnu
check 2 "unknown command ''" ''
check 2 "unknown command '--nosuch'" --nosuch
check 2 "found words after 'stepline --version'" --version now
check 2 "unknown command 'ru'" help ru
check 2 "found 2 words after 'stepline help'" help run list
check 2 "found no scenario, wanted one, or --model and --machine" run
check 2 "found no scenario" run --model gpt2
check 2 "found 2 words after 'stepline run', wanted: stepline run SCENARIO" run $wait extra
check 2 "Unknown option --jsno|did you mean '--json'?|stepline run --help" run $wait --jsno
check 2 "Unknown option -x" run $wait -x
check 2 "found '--json=yes', wanted --json without a value" run $wait --json=yes
check 2 "Missing argument for --set" run $wait --set
check 2 "Missing argument for --gpus" run $wait --gpus
check 2 "--gpus: found 0, wanted at least 1" run $wait --gpus 0
check 2 "--gpus: found -1" run $wait --gpus=-1
check 2 "Cannot parse integer value" run $wait --gpus abc
check 2 "out of range" run $wait --gpus 99999999999999999999
check 2 "found '', wanted section.key=value" run $wait --set ''
check 2 "found 'dp=3', wanted section.key=value" run $wait --set dp=3
check 2 "found 0 words after 'stepline list', wanted: stepline list machines|chips" list
check 2 "found 'machine', wanted one of: machines, chips|did you mean 'machines'?" list machine
check 2 "found 2 words" list machines chips
check 2 "found 'decks', wanted primer or deck" tables decks
check 2 "found ''" tables ''
check 2 "did you mean 'show'?" topo shwo deck-nvlink-8
check 2 "topo show: found 0 words" topo show
check 2 "--gpus: found 0" topo show deck-nvlink-8 --gpus 0
check 2 "--gpus: found '1e30' (out of range)" topo show deck-nvlink-8 --gpus 1e30
check 2 "found 'stepline model shwo'|did you mean 'show'?" model shwo gpt2
check 2 "found 1 word after 'stepline model'" model show
check 2 "found no model size" calc
check 2 "found both --params and --model" calc --params 7e9 --model gpt2 --gpus 8
check 2 "found no number of GPUs" calc --params 7e9
check 2 "--gpus: found 0" calc --params 7e9 --gpus 0
check 2 "--params: found 'nan' (not a number)" calc --params nan --gpus 8
check 2 "--params: found '1e400' (out of range)" calc --params 1e400 --gpus 8
check 2 "--link: found '400 GB' (a size), wanted a rate" calc --params 7e9 --gpus 8 --link '400 GB'
check 2 "--link: found '400' (no unit)" calc --params 7e9 --gpus 8 --link 400
check 2 "--link: found 0 B/s" calc --params 7e9 --gpus 8 --link '0 GB/s'
check 2 "--peak: found 0" calc --params 7e9 --gpus 8 --peak '0 FLOP/s'
check 2 "--card: found '-1' (negative)" calc --params 7e9 --gpus 8 --card -1
check 2 "--optimizer: found 'adm'|did you mean 'adam'?" calc --params 7e9 --gpus 8 --optimizer adm
check 2 "wanted --machine and one of --size and --sizes" collective
check 2 "--ranks: found 0" collective --machine deck-nvlink-8 --size '1 MB' --ranks 0
check 2 "--steps: found 64 ranks, wanted at most 16" collective --machine deck-network-400g --ranks 64 --size '1 MB' --steps
check 2 "found both --steps and --json" collective --machine deck-nvlink-8 --size '1 MB' --steps --json
check 1 "--size: found '5' (no unit)" collective --machine deck-nvlink-8 --size 5
check 1 "--size: found '5 GB/s' (a rate), wanted a size" collective --machine deck-nvlink-8 --size '5 GB/s'
check 1 "--size: found '-5 GB' (negative)" collective --machine deck-nvlink-8 --size '-5 GB'
check 1 "found 9 GPUs, wanted at most 8" collective --machine deck-nvlink-8 --size '1 MB' --ranks 9
check 1 "--algorithm: found algorithm 'rin'|did you mean 'ring'?" collective --machine deck-nvlink-8 --size '1 MB' --algorithm rin
check 1 "--op: found operation 'all-reduc'|did you mean 'all-reduce'?" collective --machine deck-nvlink-8 --size '1 MB' --op all-reduc
check 1 "--queue: found 'x', wanted one of: radix, heap" collective --machine deck-nvlink-8 --size '1 MB' --queue x
check 1 "--chunk: found less than 4 KiB" collective --machine deck-nvlink-8 --size '1 MB' --chunk '1 B'
check 1 "days than the clock holds" collective --machine deck-wan-100g --size '8 PB' --ranks 1000
check 2 "unknown kind of picture 'timelin'|did you mean 'timeline'?" plot x.db timelin -o x.png
check 2 "-o: found none" plot x.db timeline
check 2 "ends in .png or .svg" plot x.db timeline -o x.gif
check 2 "--run: found 0" plot x.db timeline -o x.png --run 0
check 2 "--from: found '3' (no unit)" plot x.db timeline -o x.png --from 3
check 1 "x.db: cannot be opened: No such file" plot x.db timeline -o x.png
check 1 "x.db: cannot be opened: No such file" runs x.db
check 2 "--sweep: means nothing for a timeline, only for a sweep" plot x.db timeline -o x.png --sweep 1
check 2 "--ranks: means nothing for a sweep, only for a timeline" plot x.db sweep -o x.png --ranks 1
check 2 "--lines: means nothing for a timeline" plot x.db timeline -o x.png --lines
check 2 "--sweep: found 0, wanted 1 or more" plot x.db sweep -o x.png --sweep 0
check 2 "--validation: found -1, wanted 1 or more" plot x.db validation -o x.png --validation -1
check 2 "--validation: means nothing for a sweep, only for a validation" plot x.db sweep -o x.png --validation 1
check 1 "x.db: cannot be opened: No such file" plot x.db validation -o x.png
check 1 "nowhere/x.db: cannot be made: No such file" validate --db nowhere/x.db
check 2 "--metric: found 'stepp_s'|did you mean 'step_s'?" plot x.db sweep -o x.png --metric stepp_s
check 2 "validate runs: found --family, wanted: stepline validate runs [--points FILE]" validate --family x
check 2 "validate runs: found more than one of --json, --csv, --run, and --rows or --families" validate --csv --json
check 2 "validate runs: found --db beside --run" validate --run palm540b --db v.db
check 2 "--jobs: found 0, wanted 1 to 256" validate --jobs 0
check 2 "--expected: found it beside --no-cross" fit published --no-cross --expected x.csv
check 1 "nowhere.csv: no such file" fit published --points nowhere.csv
check 2 "validate: found 'reprots', wanted one of: runs, collectives, buckets, layers, reports (did you mean 'reports'?)" validate reprots
check 2 "validate reports: found --family, wanted: stepline validate reports" validate reports --family x
check 2 "validate buckets: found --rows, wanted: stepline validate buckets" validate buckets --rows
check 2 "validate layers: found --report" validate layers --report 1
check 2 "--report: found no report '3'" validate reports --report 3
check 2 "--family: found no row of 'x'" validate collectives --family x
check 2 "--sequence: found it with --params, wanted --model" calc --params 7e9 --gpus 8 --sequence 4096
check 2 "--sequence: found 0, wanted 1 to" calc --model gpt2 --gpus 8 --sequence 0
check 2 "--measured-per-gpu: found 379500 tokens/s|which is 104.6 % of their peak" calc --model gpt2 --gpus 1 --sequence 1024 --measured-per-gpu 379500 --peak '312 TFLOP/s'
check 1 "x.db: cannot be opened: No such file" plot x.db sweep -o x.png
check 2 "found 0 words after 'stepline sweep', wanted: stepline sweep SCENARIO" sweep
check 2 "found both --json and --csv" sweep links --json --csv
check 2 "--jobs: found 0, wanted 1 to 256" sweep links --jobs 0
check 2 "--jobs: found 257" sweep links --jobs 257
check 2 "Cannot parse integer value" sweep links -j x
check 2 "$wait.ini: found no list, wanted one at least" sweep $wait
check 2 "--zip: found 4 values of machine.use and 2 of job.overlap" sweep links --zip
check 2 "found more than 100000 points" sweep links $(i=0; while [ $i -lt 14 ]; do echo "--set=x.k$i=1;2;3"; i=$((i + 1)); done)
check 2 "found 'bucket=1;2', wanted section.key=value" sweep $wait --set 'bucket=1;2'
check 1 "--set: job.bucket: found an empty value in a list" sweep $wait --set 'job.bucket=1 MiB;;2 MiB'
check 1 "--set: job.bucket: found '1 MiB' twice" sweep $wait --set 'job.bucket=1 MiB; 1 MiB'
check 1 "found no scenario 'link' in the library|did you mean 'links'?" sweep link
check 1 "links.ini:|machine.use: found a list 'primer-nvlink-8; primer-pcie4-8|'stepline sweep' runs lists" run links
check 1 "--set: job.dp: found a list '8; 16'" run $wait --set 'job.dp=8; 16'
check 1 "nowhere/x.db: cannot be made: No such file" sweep links --db nowhere/x.db
check 1 "found '' for a database" runs ''
check 2 "found 0 words" runs

# Names of the library.
check 1 "found no scenario 'llama7b-64xh100-wai' in the library|did you mean 'llama7b-64xh100-wait'?" run llama7b-64xh100-wai
check 1 "found no machine 'deck-nvlink' in the library|did you mean 'deck-nvlink-8'?" topo show deck-nvlink
check 1 "found no model 'llama-7' in the library|did you mean 'llama-7b'?" model show llama-7
check 1 "--set: model.use: found no model 'llama-7'" run $wait --set model.use=llama-7
check 1 "found no machine ''" topo show ''
check 1 "found no machine '..'" topo show ..
check 1 "found no machine 'wat'" run --model gpt2 --machine wat

# Values of a scenario.
check 1 "--set: job.dpp: unknown key (did you mean " run $wait --set job.dpp=64
check 1 "--set: job.dp: found 63, wanted 64, which with tp 1 x cp 1 x pp 1 makes the 64 GPUs" run $wait --set job.dp=63
check 1 "--set: job.dp: found 'atuo', wanted a number of ranks, or auto" run $wait --set job.dp=atuo
check 1 "--set: job.dp: found nothing, wanted a value" run $wait --set job.dp=
check 1 "--set: job.dp: found '-1' (negative)" run $wait --set job.dp=-1
check 1 "--set: job.tokens: found 'NaN' (not a number)" run $wait --set job.tokens=NaN
check 1 "--set: job.tokens: found '1e308' (out of range)" run $wait --set job.tokens=1e308
check 1 "--set: job.tokens: found 1000, wanted a multiple of 262144" run $wait --set job.tokens=1000
check 1 "--set: job.bucket: found '25' (no unit)" run $wait --set job.bucket=25
check 1 "--set: job.bucket: found '25 mib'|did you mean 'MiB'?" run $wait --set 'job.bucket=25 mib'
check 1 "machine.gpus: found '9223372036854774784' (out of range)" run $wait --gpus 9223372036854774784
check 1 "machine.gpus: found 46341, wanted a whole number from 1 to 46340" run $wait --gpus 46341
check 1 "operations in 1 stages|larger buckets would help" run --model llama3-405b --machine deck-nvlink-8 \
    --set job.tokens=8 --set model.sequence=1 --set compute.efficiency=1 --set 'job.bucket=1 KiB' --set job.bucket_split=yes
check 1 "collectives of 46340 ranks" run --model gpt2 --machine deck-network-400g --gpus 46340 --set job.tokens=46340 \
    --set model.sequence=1 --set compute.efficiency=1 --set model.layers=100000

# Splits: what does not divide, is misspelt, or means nothing. llama3-8b on 8 GPUs has 32 heads and 32 layers.
split="run --model llama3-8b --machine dgx-h100 --gpus 8 --set job.batch=64"
while read -r words; do
    read -r sets
    # shellcheck disable=SC2046,SC2086 # a command and its words
    check 1 "$words" $split $(for set in $sets; do echo "--set $set"; done)
done <<'END'
command line: job: |rules are broken: dp: found 2, but no dp does: tp 3 x cp 1 x pp 1 = 3 does not divide the 8 GPUs|tp: found 3, wanted a divisor of the 32 heads
job.tp=3
--set: job.tp: found 0, wanted a whole number from 1
job.tp=0
--set: job.dp: found 4, wanted 2, which with tp 2 x cp 1 x pp 2 makes the 8 GPUs of the machine
job.tp=2 job.pp=2 job.dp=4
--set: job.zero: found 4, wanted a whole number from 0 to 3
job.zero=4
--set: job.batch: found 12, wanted a multiple of 8 (micro_batch 1 x dp 8)
job.batch=12
--set: job.batch: found 64, wanted a multiple of 24 (micro_batch 3 x dp 8)
job.micro_batch=3
--set: job.tokens: found beside batch, wanted one of them
job.tokens=524288
--set: job.schedule: found schedule 'zigzag', wanted one of: gpipe, 1f1b, interleaved
job.pp=2 job.schedule=zigzag
--set: job.schedule: found schedule 'interleavd'|did you mean 'interleaved'?
job.pp=2 job.schedule=interleavd
--set: job.schedule: interleaved wants at least 2 chunks a stage
job.pp=2 job.schedule=interleaved
--set: job.schedule: 1f1b wants one chunk a stage
job.pp=2 job.schedule=1f1b job.chunks=2
--set: job.layers_first: found 40 layers on the first and last stage, wanted at most 32
job.pp=2 job.layers_first=40
--set: job.pp: found 8 x 5 chunks = 40 stages, wanted at most 32
job.pp=8 job.chunks=5
--set: job.order: found order 'tp-dp', wanted tp, cp, dp and pp, each once, fastest first
job.order=tp-dp
--set: job.cp: found 2, wanted 2 x cp to divide the sequence of 4094 tokens
job.cp=2 model.sequence=4094
--set: job.shard: found 3, wanted a divisor of the 8 data-parallel ranks
job.zero=3 job.shard=3
--set: job.sp: means nothing here, wanted tp above 1 beside it
job.sp=yes
--set: job.chunks: means nothing here, wanted pp above 1 beside it
job.chunks=2
--set: job.reshard: means nothing here, wanted zero = 3 beside it
job.zero=2 job.reshard=no
--set: job.recompute: found 'ful', wanted one of: none, selective, full|did you mean 'full'?
job.recompute=ful
--set: compute.framework: found no framework 'megatrn' in the library|did you mean 'megatron-
compute.framework=megatrn
--set: compute.framework: found beside efficiency, wanted one of them
compute.framework=xla compute.efficiency=0.4
--set: job.tensor_parallel: unknown key
job.tensor_parallel=2
--set: reality.slow_factor: found 0.5, wanted 1 to 1000
reality.slow_ranks=1 reality.slow_factor=0.5
--set: reality.slow_link: found 8, wanted a whole number from 0 to 7
reality.slow_link=8
--set: reality.loader: the data of a step would take|wanted at most a day
reality.loader=0.001 job.batch=1024
--set: reality.jitter: found '3' (more than 1)
reality.jitter=3
END

# Files: their text.
cat >good.ini <<'INI'
[model]
use = gpt2
sequence = 64
[machine]
use = ./node.ini
[job]
tokens = 512
bucket = 25 MiB
[compute]
efficiency = 0.4
INI
machine node.ini island 'gpus = 8' 'bandwidth = 450 GB/s' 'latency = 5 us'
"$STEPLINE" run ./good.ini >/dev/null || complain "good.ini: is refused"

# edit NAME SED-COMMAND BASE: a copy of a good file with one thing wrong.
edit() { sed -e "$2" "$3" >"$1"; }
edit a.ini 's/^tokens/tokesn/' good.ini
check 1 "./a.ini: job.tokens: missing (line 7 has job.tokesn)" run ./a.ini
edit a.ini 's/^bucket/bukket/' good.ini
check 1 "./a.ini:8: job.bukket: unknown key (did you mean 'bucket'?)" run ./a.ini
edit a.ini 's/^bucket.*/tokens = 64/' good.ini
check 1 "./a.ini:8: job.tokens: found twice, first in line 7" run ./a.ini
edit a.ini 's/25 MiB/25/' good.ini
check 1 "./a.ini:8: job.bucket: found '25' (no unit), wanted a size such as '25 MiB'" run ./a.ini
edit a.ini 's/^\[job\]/[jobs]/' good.ini
check 1 "./a.ini: job.tokens: missing (line 7 has jobs.tokens)" run ./a.ini
edit a.ini 's/^\[job\]/[job/' good.ini
check 1 "./a.ini:6: found a broken section header" run ./a.ini
edit a.ini "s/25 MiB/$esc[31m/" good.ini
check 1 "./a.ini:8: found a control character" run ./a.ini
edit m.ini 's/450 GB\/s/400 GB/' node.ini
check 1 "./m.ini:5: machine.bandwidth: found '400 GB' (a size), wanted a rate" topo check ./m.ini
edit m.ini 's/450 GB\/s/-1 GB\/s/' node.ini
check 1 "./m.ini:5: machine.bandwidth: found '-1 GB/s' (negative)" topo check ./m.ini
edit m.ini 's/450 GB\/s/nan GB\/s/' node.ini
check 1 "./m.ini:5: machine.bandwidth: found 'nan GB/s' (not a number)" topo check ./m.ini
edit m.ini 's/450 GB\/s/1e999 GB\/s/' node.ini
check 1 "./m.ini:5: machine.bandwidth: found '1e999 GB/s' (out of range)" topo check ./m.ini
edit m.ini 's/450/0/' node.ini
check 1 "./m.ini:5: machine.bandwidth: found 0 B/s" topo check ./m.ini
edit m.ini 's/5 us/5/' node.ini
check 1 "./m.ini:6: machine.latency: found '5' (no unit), wanted a time" topo check ./m.ini
edit m.ini 's/gpus = 8/gpus = 8.5/' node.ini
check 1 "./m.ini:4: machine.gpus: found '8.5' (not a whole number)" topo check ./m.ini
edit m.ini 's/island/iland/' node.ini
check 1 "./m.ini:3: machine.kind: found 'iland'|did you mean 'island'?" topo check ./m.ini
edit m.ini 's/h100-sxm/h100-smx/' node.ini
check 1 "./m.ini:2: machine.chip: found no chip 'h100-smx'|did you mean 'h100-sxm'?" topo check ./m.ini
edit m.ini "\$a title = $esc]0;owned" node.ini
check 1 "./m.ini:7: found a control character" topo show ./m.ini
machine m.ini graph '[links]' 'gpu0 > gpu1 = 1 GB/s, 1 us, nvlink' 'gpu2 gpu1 = 1 GB/s, 1 us, nvlink'
check 1 "./m.ini: gpu0 cannot reach gpu2" topo check ./m.ini
machine m.ini graph '[links]' 'gpu0 gpu1 = 1 GB/s, 1 us, nvlink' 'gpu3 gpu1 = 1 GB/s, 1 us, nvlink'
check 1 "./m.ini:6: links.gpu3 gpu1: found gpu3 but no gpu2" topo check ./m.ini
printf '[chip]\nmemory = 80 GiB\nmemory_bandwidth = 1 TB/s\n[peak]\nbf16 = 1e290 EFLOP/s\n' >c.ini
edit m.ini 's/h100-sxm/.\/c.ini/' node.ini
check 1 "./c.ini:5: peak.bf16: found 1e+308 FLOP/s, wanted" topo check ./m.ini
printf '[model]\ntitle = x\n' >x.ini
check 1 "./x.ini: model.source: missing" model show ./x.ini

# Files: no text, no file, too much of it.
check 1 "./nowhere.ini: no such file" run ./nowhere.ini
mkdir folder.ini
check 1 "./folder.ini: found no regular file, wanted a text file" run ./folder.ini
check 1 "folder.ini: found a folder, wanted a file" run ./good.ini --db folder.ini
check 1 "folder.ini: found a folder, wanted a file" runs folder.ini
head -c 5000 /dev/urandom >noise.ini
check 1 "./noise.ini: found bytes that are not UTF-8 text" run ./noise.ini
cp "$STEPLINE" program.ini
check 1 "./program.ini: found " model show ./program.ini
rm program.ini
dd if=/dev/zero of=large.ini bs=1 count=0 seek=100M 2>/dev/null
check 1 "./large.ini: found more than 1 MiB" topo show ./large.ini
check 1 "large.ini: found a file that is no SQLite database" runs large.ini
: >empty.ini
check 1 "./empty.ini: model.use: missing" run ./empty.ini
check 1 "empty.ini: found an empty database" runs empty.ini
check 1 "good.ini: found a file that is no SQLite database" runs good.ini
check 1 "good.ini: found a file that is no SQLite database" run ./good.ini --db good.ini
check 1 "/dev/null: found a device or pipe" run ./good.ini --db /dev/null
check 1 "/dev/zero: found no regular file" run /dev/zero
if [ -f /proc/self/mem ]; then
    check 1 "/proc/self/mem: cannot be read: " run /proc/self/mem
else
    skip "there is no /proc/self/mem to be unreadable"
fi
if [ "$(id -u)" != 0 ]; then
    cp good.ini unreadable.ini
    chmod 0 unreadable.ini
    check 1 "./unreadable.ini: cannot be read: Permission denied" run ./unreadable.ini
else
    skip "root reads every file: no file without permission"
fi

# Disks.
check 1 "no/such/x.db: cannot be made: No such file or directory" run ./good.ini --db no/such/x.db
# Before the simulation: this one would take hours.
limited=$STEPLINE
STEPLINE="$work/limited"
printf '#!/bin/sh\nexec timeout 60 "%s" "$@"\n' "$limited" >"$STEPLINE"
chmod +x "$STEPLINE"
check 1 "no/such/x.db: cannot be made" run llama7b-64xh100-overlap --gpus 8192 \
    --set job.dp=8192 --set job.tokens=33554432 --db no/such/x.db
STEPLINE=$limited
check 1 "good.ini/x.db: cannot be" run ./good.ini --db good.ini/x.db
check 1 "found '' for a database" run ./good.ini --db ''
check 1 "/proc/x.db: cannot be made: " run ./good.ini --db /proc/x.db
mkdir locked
if chattr +i locked 2>/dev/null || { [ "$(id -u)" != 0 ] && chmod 555 locked; }; then
    check 1 "locked/x.db: cannot be made: " run ./good.ini --db locked/x.db
    "$STEPLINE" run ./good.ini --db one.db >/dev/null
    check 1 "locked/x.png: cannot be written: " plot one.db timeline -o locked/x.png
    rm one.db
    chattr -i locked 2>/dev/null || true
else
    skip "no folder can be made read-only here"
fi
# In blocks of 512 bytes: too few for the database, enough for the rest.
(
    ulimit -f 40
    check 1 "full.db: cannot be " run ./good.ini --db full.db
    exit "$failed"
) || failed=$((failed + 1))
cases=$((cases + 1))

# What is typed: terminal escapes, bytes that are no UTF-8, and no end of it.
endless=$(head -c 100000 /dev/zero | tr '\0' a)
bad=$(printf 'a\377b')
for text in "${esc}[31m" "./${esc}[2J.ini" "a$(printf '\302\233')b" "two
lines"; do
    check 2 "without control characters" "$text"
    check 2 "without control characters" run "$text"
    check 2 "without control characters" run ./good.ini --db "$text"
    check 2 "without control characters" run ./good.ini --set "job.dp=$text"
    check 2 "without control characters" runs "$text"
done
check 2 "found 'a?b', wanted words in UTF-8" "$bad"
check 2 "found './a?b.ini', wanted words in UTF-8" run "./$bad.ini"
check 2 "wanted words in UTF-8" run ./good.ini --db "$bad"
check 2 "unknown command 'aaaa" "$endless"
check 1 "found no scenario 'aaaa" run "$endless"
check 1 "./aaaa" run "./$endless.ini"
check 1 "(out of range)" run ./good.ini --set "job.dp=$(printf '%s' "$endless" | tr a 1)"
check 1 "unknown key" run ./good.ini --set "job.$endless=1"
check 2 "Unknown option --aaaa" run ./good.ini "--$endless"
check 1 "./aaaa" run ./good.ini --db "./$endless"

# Memory: what is typed, and what does not go together.
check 2 "found no model, wanted a scenario or --model NAME" memory
check 1 "--model: found no model 'gpt3' in the library" memory --model gpt3
check 2 "found both --machine and --chip" memory --model gpt2 --machine dgx-h100 --chip h100-sxm
check 1 "--chip: found no chip 'h100' in the library" memory --model gpt2 --chip h100
check 1 "--machine: found no machine 'dgx' in the library" memory --model gpt2 --machine dgx
check 2 "--zero: found 4, wanted 0 to 3" memory --model gpt2 --dp 8 --zero 4
check 2 "--dp: found 0, wanted 1 to" memory --model gpt2 --dp 0
check 2 "--dp: found '8 GPUs'" memory --model gpt2 --dp '8 GPUs'
check 2 "--tp: found '1e30' (out of range)" memory --model gpt2 --tp 1e30
check 2 "ranks (--tp x --cp x --dp x --pp), wanted at most" memory --model gpt2 --dp 1e6 --pp 1e6
check 2 "tp: found 5, wanted a divisor of the 12 heads of gpt2" memory --model gpt2 --tp 5
check 2 "dp: found 3, wanted 4" memory --model gpt2 --gpus 8 --dp 3 --pp 2
check 2 "pp: found 13" memory --model gpt2 --pp 13
check 2 "--schedule: found schedule '1f2b', wanted one of: gpipe, 1f1b, interleaved|did you mean '1f1b'?" memory --model gpt2 --schedule 1f2b
check 2 "schedule: 1f1b wants one chunk" memory --model gpt2 --pp 2 --chunks 2 --schedule 1f1b
check 2 "--recompute: found 'some', wanted one of: none, selective, full" memory --model gpt2 --recompute some
check 2 "recompute_every: found 2, wanted it with recompute = full" memory --model gpt2 --recompute-every 2
check 2 "--optimizer: found 'adamw'|did you mean 'adam'?" memory --model gpt2 --optimizer adamw
check 2 "--gradient-dtype: found 'fp8'" memory --model gpt2 --gradient-dtype fp8
check 2 "--gradients: found ''" memory --model gpt2 --gradients ''
check 2 "--bucket: found '25' (no unit)" memory --model gpt2 --bucket 25
check 2 "--bucket: found less than 1 KiB" memory --model gpt2 --bucket '1 B'
check 2 "--buckets: found 'ddp', wanted one of: torch, megatron" memory --model gpt2 --buckets ddp
check 2 "--offload: found 'gradients', wanted one of: optimizer, weights, activations" memory --model gpt2 --offload optimizer,gradients
check 2 "--sequence: found 2048, wanted at most 1024" memory --model gpt2 --sequence 2048
check 2 "shard: found 3, wanted a divisor of the 8 data-parallel ranks" memory --model gpt2 --dp 8 --zero 3 --shard 3
check 2 "batch: found 9, wanted a multiple of 8" memory --model gpt2 --dp 8 --batch 9
check 2 "whose activations pass 8 PiB" memory --model llama3-405b --sequence 1e9 --micro-batch 1
check 1 "--framework: found no framework 'torch' in the library" memory --model gpt2 --framework torch
check 2 "--stages: found 'some', wanted one of: ends, all" memory --model gpt2 --stages some
check 2 "found --set and no scenario" memory --model gpt2 --set job.dp=8
check 2 "beside a scenario, wanted --set section.key=value" memory $wait --dp 8
check 2 "beside a scenario, wanted --set section.key=value" memory $wait --sp
check 1 "found no scenario 'nosuch'" memory nosuch
check 1 "job.dp" memory $wait --set job.dp=5
check 2 "found 2 words after 'stepline memory'" memory $wait extra

# A result that nobody gets is no success.
for command in "list models" "list models --json" "topo show deck-nvlink-8" "run ./good.ini" "runs two.db"; do
    "$STEPLINE" run ./good.ini --db two.db >/dev/null
    cases=$((cases + 1))
    status=0
    # shellcheck disable=SC2086 # a command and its words
    "$STEPLINE" $command >/dev/full 2>"$work/err" || status=$?
    { [ "$status" = 1 ] && grep -q "standard output: cannot be written" "$work/err"; } || complain "stepline $command >/dev/full: exit status $status, wanted 1"
done

# What a database holds does not steer a terminal, nor break JSON.
if command -v sqlite3 >/dev/null; then
    sqlite3 two.db "UPDATE run SET name = char(27) || '[31m' || char(10) || char(155), machine = x'ff', step_ps = 'x', mfu = 9e999"
    for option in "" --json; do
        cases=$((cases + 1))
        # shellcheck disable=SC2086 # nothing, or an option
        "$STEPLINE" runs two.db $option >"$work/out" || complain "stepline runs $option: fails on an edited database"
        if tr -d '\n' <"$work/out" | grep -q '[[:cntrl:]]'; then complain "stepline runs $option: control characters"; fi
    done
    printf '[machine]\ntitle = \303\251 "q" \\ %%s\nchip = h100-sxm\nkind = island\ngpus = 2\nbandwidth = 1 GB/s\nlatency = 2 ps\n' >odd.ini
    # valid COMMAND...: one JSON object on stdout, nothing on stderr but words.
    valid() {
        cases=$((cases + 1))
        "$STEPLINE" "$@" --json >"$work/j" 2>/dev/null || complain "stepline $* --json: exit status $?"
        [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$work/j')) AND json_type(readfile('$work/j')) = 'object'")" = 1 ] ||
            complain "stepline $* --json: is no JSON object"
        if grep -q '[^ -~]' "$work/j"; then complain "stepline $* --json: more than ASCII"; fi
    }
    for shelf in machines chips models scenarios algorithms; do valid list $shelf; done
    valid model show gpt2
    valid topo show deck-network-400g
    valid topo show ./odd.ini
    valid topo show deck-nvlink-8 --gpus 1
    valid collective --machine ./odd.ini --size '0 B'
    valid collective --machine deck-nvlink-8 --ranks 1 --size '1 B'
    valid collective --machine deck-nvlink-8 --size '1 MB' --op all-gather-payload
    valid calc --params 7e9 --gpus 8
    valid calc --params 1 --gpus 1 --measured 0 --latency '0 s'
    valid calc --params 9e15 --gpus 9e15 --tokens 1
    valid memory --model gpt2 --pp 4 --chunks 3 --stages all
    valid run ./good.ini
    valid run ./good.ini --gpus 1 --set compute.optimizer_time=none
    valid tables primer
    valid runs two.db
else
    skip "no sqlite3 shell: JSON is not checked"
fi

echo "$cases wrong or hostile command lines, $failed complaints, $skipped skipped"
[ "$failed" = 0 ] && [ "$cases" -gt 150 ]
