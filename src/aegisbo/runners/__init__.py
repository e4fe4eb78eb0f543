"""Everything that waits: the loop between an optimizer and its workers, and the kinds of workers."""
