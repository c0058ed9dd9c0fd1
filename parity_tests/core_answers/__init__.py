"""What functions of the published core answer to many inputs, and ours beside them.

A cassette shows a whole session; of a function that has many answers it shows a few. Here each
subject is one function of the services and its counterpart in the core. `answers/SUBJECT.json`
keeps what the core answered to each input, `core/ROOM.mjs` asks it, and the module of the room
gives ours. `python -m parity_tests.core_answers.record` asks the core for answers that are missing.
"""
