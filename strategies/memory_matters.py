"""Words that ask about the same matter as others, of English and Chinese: who asks what to spend asks about the budget."""

from __future__ import annotations

from .facts.words import content_words
from .memory_people import any_of

__all__ = ["matter_words", "words_of_matter"]

_MATTERS = tuple(
    [
        (f"matter {words[0]}", any_of(*patterns), words)
        for words, *patterns in (
            (("budget", "spend", "afford", "预算", "花"), r"\b(?:budgets?|spend(?:ing)?|afford)\b|预算|花(?![园生草卉茶店朵])"),
            (
                ("salary", "earn", "income", "工资", "年薪", "月薪", "薪水", "收入", "赚", "挣"),
                r"\b(?:salary|earn\w*|income|wages?)\b|工资|[月年]薪|薪水|收入|[挣赚]",
            ),
            (("rent", "房租", "租金"), r"\brent\b|房租|租金"),
            (("car", "drive", "辆", "车"), r"\b(?:cars?|vehicle|driv(?:e|es|ing))\b|[一两这那]辆|(?<![火单])车(?![站间票床])"),
            (("bike", "bicycle", "自行车", "单车"), r"\b(?:bikes?|bicycles?)\b|自行车|单车"),
            (("child", "children", "kids", "孩子"), r"\b(?:child|children|kids?)\b|小?孩子?"),
            (("wife", "spouse", "老婆", "妻子", "太太"), r"\bwife\b|老婆|妻子|太太"),
            (("husband", "spouse", "丈夫", "老公"), r"\bhusband\b|丈夫|老公"),
            (("birthday", "born", "生日", "出生"), r"\b(?:birthday|born)\b|生日|出生"),
            (("flat", "apartment", "公寓"), r"\b(?:flat|apartment)\b|公寓"),
            (("computer", "laptop", "电脑"), r"\b(?:computer|laptop|pc)\b|电脑"),
            (("dog", "puppy", "狗"), r"\b(?:dogs?|pupp(?:y|ies))\b|狗"),
            (("cat", "kitten", "猫"), r"\b(?:cats?|kittens?)\b|猫"),
        )
    ]
)
_ASKING = any_of(
    r"\bhow (?:much|many|long|old|often)\b|\b(?:what|which) (?:kind|sort|time|day)\b",
    r"什么时候|什么|多少钱?|哪[里天个]|几[点岁个]|怎么样",
)
_OWNER = any_of(r"['\u2019]s\b")


def words_of_matter(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, those of one matter as one."""
    text = _ASKING.sub(" ", _OWNER.sub(" ", text))
    matters: list[str] = []
    for name, pattern, _ in _MATTERS:
        rest, found = pattern.subn(" ", text)
        if found:
            text = rest
            matters.append(name)
    return content_words(text) | frozenset(matters)


def matter_words(text: str) -> tuple[str, ...]:
    """All words by which the matters that a text is about can be looked for."""
    return tuple([word for _, pattern, words in _MATTERS if pattern.search(text) for word in words])
