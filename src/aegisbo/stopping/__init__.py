"""Is a running evaluation still worth its worker? One rule per file, and where those that were stopped would end."""
