"""Is a running evaluation still worth its worker? One rule per file, and what is expected of those that were stopped."""
