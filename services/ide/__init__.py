"""The companion of an IDE: what the user's editor shows, and changes that the user reviews there.

- `context`: the open files, and how the model learns of them.
- `detection`, `addresses`: which IDE runs the terminal, and where its companion listens.
- `companion`: the connection; it opens changes in the editor and receives the user's decision.
- `session`: the companion of one session.
"""
