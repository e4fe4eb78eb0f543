"""Everything that waits: a loop hands points to workers, and results to the study.

- `drive` puts a run together: a pool, a study, `progress` for the user, Ctrl-C (`interrupt`).
- `loop` asks the study for a point and submits it to the workers. `time_limit` stops what takes too long, `run` is the
record of what happened, and `idle` explains unused worker time.
- `protocol` says what the loop needs from a study and from workers.
- `pools` are the workers: `make_pool` chooses one. `processes` has a thread for each process: `child` is the driver's
  end of its pipes, `worker` the other one. `slots` tells an evaluation which worker runs it.
- `packing` brings the function there, and `evaluation` calls it; it may be an external program (`command`). `output`
  keeps what it prints.
"""
