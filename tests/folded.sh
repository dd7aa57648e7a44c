#!/usr/bin/env bash
# tests/folded.sh: every shipped scenario of a published run, at fewer ranks, by messages and folded: within 1 % of each
# other; and exact where nothing contends. STEPLINE_SLOW=1 adds the one with 2,048 ranks.
set -uo pipefail
stepline=${STEPLINE:-./stepline}
checks=0 wrong=0
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT

step() { # FIDELITY SCENARIO WORDS...: the step in seconds
    local fidelity=$1
    shift
    "$stepline" run "$@" --set "simulate.fidelity=$fidelity" --json | sed -n 's/^ *"step_s" *: *\([0-9.e-]*\),*$/\1/p'
}

check() { # MOST SCENARIO WORDS...: by messages, folded with a cold cache and with a warm one
    local most=$1 messages cold warm
    shift
    messages=$(step messages "$@") cold=$(step folded "$@") warm=$(step folded "$@")
    checks=$((checks + 1))
    if [ -z "$messages" ] || [ "$cold" != "$warm" ] ||
        ! awk -v m="$messages" -v f="$cold" -v most="$most" 'BEGIN { g = f / m - 1; exit !(g <= most && -g <= most) }'; then
        wrong=$((wrong + 1))
        echo "WRONG: $*: $messages s by messages, $cold s folded, $warm s from the cache; wanted within $most"
    fi
}

check 0 llama7b-64xh100-wait
check 0 llama7b-64xh100-overlap
check 0 llama3-8b-fsdp
check 0.001 palm-540b-6144 --set machine.gpus=192 --set job.shard=16 --set job.batch=64
check 0.001 megatron-1t-3072 --set machine.gpus=512 --set job.batch=32
check 0.01 llama3-405b-8192 --set machine.gpus=128 --set job.batch=16
check 0.01 llama3-405b-16384 --set machine.gpus=256 --set job.batch=32
[ -z "${STEPLINE_SLOW:-}" ] || check 0.01 llama3-405b-16384-128k --set machine.gpus=2048 --set job.batch=16
echo "$checks scenarios by messages and folded, $wrong apart"
[ "$wrong" = 0 ]
