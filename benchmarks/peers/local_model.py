"""A small model behind the chat completions protocol, by llama.cpp (xllamacpp): prints its URL, ends when its input is closed.

python local_model.py FILE.gguf [--threads 1] [--window 4096]
"""

from __future__ import annotations

import argparse
import os
import sys

import xllamacpp


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--window", type=int, default=4096)
    options = parser.parse_args()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.file
    parameters.n_ctx = options.window
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.sampling.temp = 0.0  # for those who ask for none
    for processors in (parameters.cpuparams, parameters.cpuparams_batch):
        processors.n_threads = options.threads
        processors.poll = 0  # no busy waiting: others may work on this machine
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()
    os._exit(0)  # nothing is left to finish, and llama.cpp takes its time to


if __name__ == "__main__":
    main()
