"""Other people's rules of thumb, to be judged by the bounds: an instance in, a schedule out."""
