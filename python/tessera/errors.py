"""Faults."""


class Error(Exception):
    """A fault of the world: a bad file, a wrong option, a missing compiler, an unsupported model.

    where     file, with line or offset where known; may be empty
    entity    tensor, operator, field or option; may be empty
    problem   the found and the expected value
    advice    a remedy; may be empty
    is_usage  the call was wrong, rather than a file or the machine

    An argument of a wrong type is a TypeError.
    """

    where: str
    entity: str
    problem: str
    advice: str
    is_usage: bool

    def __init__(self, where: str, entity: str, problem: str, advice: str = "", is_usage: bool = False) -> None:
        place = f"{where}: " if where else ""
        thing = f"`{entity}`: " if entity else ""
        remedy = f" ({advice})" if advice else ""
        super().__init__(f"{place}{thing}{problem}{remedy}")
        self.where, self.entity, self.problem, self.advice, self.is_usage = where, entity, problem, advice, is_usage

    def __reduce__(self) -> tuple:
        return (Error, (self.where, self.entity, self.problem, self.advice, self.is_usage))
