"""Each log of an x-ray: what it holds, what is wrong with it, what its files disagree about."""
