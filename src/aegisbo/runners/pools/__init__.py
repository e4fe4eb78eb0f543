"""Workers of all kinds: `make_pool` chooses one. Worker processes import this package too, and need none of them."""
