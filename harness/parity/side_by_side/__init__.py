"""Two compared runs put beside each other: the timelines that a result keeps."""
