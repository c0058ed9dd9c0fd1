"""Code Assist: the server that answers accounts signed in with Google."""
