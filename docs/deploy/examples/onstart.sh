#!/bin/bash
# Start script of a pod (Vast.ai "On-start script", RunPod "Container start command"). /workspace is the volume that survives.
set -u
export MIDWATCH_HOME=/workspace/midwatch
export PATH=/workspace/bin:$PATH # midwatch lies in /workspace/bin
cd /workspace/train || exit 1
# After a restart of the pod the run's record is on the volume and its processes are gone: the next attempt begins, and resumes
# as the command does. Where nothing is recorded yet, the run begins.
nohup sh -c 'midwatch run --quiet --reattach grpo || midwatch run --quiet --name grpo -- bash train.sh' >>/workspace/midwatch.log 2>&1 &
