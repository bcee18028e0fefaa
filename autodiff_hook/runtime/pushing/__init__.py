"""Forward mode: what the pushforward of a program calls.

For every file here there is one of the same name in ``runtime``; a witness and a pullback there are a
tangent here. All of this is ordinary Python that the reverse engine enters and differentiates, which is
what second derivatives are: so values travel only in ways that it follows. Functions that merely look at
their arguments are marked ``bookkeeping``, and are not entered.
"""
