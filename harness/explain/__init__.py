"""What a difference means, in words: the earliest cause, what each side did, where it was seen."""
