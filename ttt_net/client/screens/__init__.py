"""One module per screen: its title, rows, requests, keys, hints, help and words; `registry` lists them."""
