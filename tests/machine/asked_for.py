"""How far ahead of their results jobs are asked for, for the tests of what does them."""


def asked_for(run, last):
    """How many jobs `run` asks for of those that it is given, the numbers from 10 on, if no more are wanted after the result `last`.

    run: what takes jobs and yields (position, result).
    """
    given, wanted = [], True

    def jobs():
        for number in range(10, 1010):
            if not wanted:
                return
            given.append(number)
            yield number

    for position, _ in run(jobs()):
        wanted = wanted and position < last
    return len(given)
