"""Texts that embedders are tried on."""
# ruff: noqa: RUF001 - texts in many scripts have letters that look like others

from __future__ import annotations

from attrs import frozen

__all__ = ["NEAR_AND_FAR", "NearAndFar", "short_texts"]


@frozen
class NearAndFar:
    """A text, one of the same meaning, and one about something else; all in one language."""

    text: str
    near: str
    far: str


NEAR_AND_FAR = (
    NearAndFar(
        "The deployment of the server failed last night.",
        "Last night the server deployment failed again.",
        "My grandmother bakes bread with walnuts on Sundays.",
    ),
    NearAndFar(
        "How much does the train ticket to Vienna cost?",
        "A train ticket to Vienna costs forty euros.",
        "The doctor told him to drink more water.",
    ),
    NearAndFar(
        "Her daughter plays the violin in the school orchestra.",
        "The violin is what her daughter plays at school, in the orchestra.",
        "Interest rates will rise by half a percent.",
    ),
    NearAndFar(
        "The password of the database must be changed every month.",
        "Change the database password each month.",
        "We saw three whales from the boat near Iceland.",
    ),
    NearAndFar(
        "Der Zug nach Hamburg hat eine Stunde Verspätung.",
        "Eine Stunde Verspätung hat der Zug nach Hamburg.",
        "Meine Tante züchtet Rosen in ihrem Garten.",
    ),
    NearAndFar(
        "El tren a Sevilla sale a las ocho de la mañana.",
        "A las ocho de la mañana sale el tren a Sevilla.",
        "Mi hermana estudia medicina y vive con dos gatos.",
    ),
    NearAndFar(
        "Поезд в Казань опаздывает на один час.",
        "На один час опаздывает поезд в Казань.",
        "Моя бабушка печёт хлеб с орехами.",
    ),
    NearAndFar("这部电影的导演是谁？", "这部电影的导演是冯小刚。", "明天下午我要去医院看牙。"),
    NearAndFar("大阪へ行く電車は一時間遅れています。", "大阪行きの電車は一時間の遅れです。", "祖母は日曜日にパンを焼きます。"),
    NearAndFar(
        "القطار إلى الإسكندرية متأخر ساعة واحدة.",
        "متأخر ساعة واحدة القطار إلى الإسكندرية.",
        "جدتي تخبز الخبز مع الجوز يوم الأحد.",
    ),
)

_THINGS = ("kettle", "harbour", "invoice", "violin", "glacier", "password", "orchard", "engine", "ticket", "museum", "falcon")
_PLACES = ("Oslo", "Lima", "Kyoto", "Cairo", "Quebec", "Perth", "Turin")


def short_texts(count: int) -> list[str]:
    """Short English texts, each different: in their order all things and places are gone through."""
    return [f"The {_THINGS[n % len(_THINGS)]} in {_PLACES[n % len(_PLACES)]} is number {n}." for n in range(count)]
