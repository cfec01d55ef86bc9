"""`lpsched serve`: the answers over HTTP, with jobs, limits and a live page; needs the extra 'serve'."""
