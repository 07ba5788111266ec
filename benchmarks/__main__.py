"""Run every benchmark."""

from benchmarks import reading, startup, synth

for benchmark in (startup, synth, reading):
    print(f"\n## {benchmark.__name__.split('.')[-1]}\n", flush=True)
    benchmark.main()
