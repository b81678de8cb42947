"""Agent programs: one folder each, with everything that Ramet knows about that program.

`registry` finds the folders and their parts, `selection` chooses the driver of an attempt. `contract` says what each
part is and has the tools that several vendors share; it knows no vendor. No vendor's folder imports another's.
"""
