"""Everything that waits: a loop hands points to workers, and results to the optimizer and the journal.

- `minimize` puts a run together: the optimizer, a pool, a study, `progress` for the user, Ctrl-C (`interrupt`).
- `loop` asks for a point, writes it to the journal and submits it to the workers; `run` has its rules and
  its record, `idle` explains unused worker time.
- `protocol` says what the loop needs from an optimizer, from workers and from a journal.
- `pools` are the workers: `make_pool` chooses one. `processes` has a thread for each process: `child` is the driver's
  end of its pipes, `worker` the other one. `slots` tells an evaluation which worker runs it.
- `packing` brings the function there, and `evaluation` calls it; it may be an external program (`command`). `output`
  keeps what it prints.
"""
