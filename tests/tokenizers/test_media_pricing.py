"""What media cost: documented prices by pixel size, and the size read from the image itself."""

import base64
import struct
import zlib

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import (
    AnthropicImages,
    FixedImages,
    GeminiTiles,
    Media,
    MediaPricing,
    Message,
    OpenAIPatches,
    OpenAITiles,
    from_chat,
)

GPT_4O = OpenAITiles()
GPT_5_5_ORIGINAL = OpenAIPatches(cap=10_000, longest=6_000)
CLAUDE = AnthropicImages()
CLAUDE_HIGH = AnthropicImages(longest=2576, most=4784)

#: All of 7 x 5 pixels, written by Pillow.
IMAGES = {
    "png": "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAIAAAAG+GGPAAAAFElEQVR4nGM8IafBgAGYMIWoIgoAdRwBGF1dXf0AAAAASUVORK5CYII=",
    "gif": "R0lGODdhBwAFAIEAAMgeKAAAAAAAAAAAACwAAAAABwAFAAAIDAABCBxIsKDBgwcDAgA7",
    "jpeg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////"
        "////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wgARCAAFAAcDAS"
        "IAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAVAQEBAAAAAAAAAAAAAAAAAAABA//aAAwDAQACEAMQAAABgFP/xAAUEAEAAAAAAAAAAAAA"
        "AAAAAAAA/9oACAEBAAEFAn//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/AX//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/AX//xA"
        "AUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAY/An//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/IX//2gAMAwEAAgADAAAAEPP/xAAUEQEA"
        "AAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/EH//xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/EH//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACA"
        "EBAAE/EH//2Q=="
    ),
    "webp": "UklGRjAAAABXRUJQVlA4ICQAAABwAQCdASoHAAUAB0CWJaACdAF1AAD+4uBIw1uv6u/O36ntgAA=",
    "webp lossless": "UklGRh4AAABXRUJQVlA4TBEAAAAvBgABAAdQjyIXpf+BiOh/AAA=",
    "webp animated": (
        "UklGRrwAAABXRUJQVlA4WAoAAAASAAAABgAABAAAQU5JTQYAAAAAAAAAAABBTk1GRgAAAAAAAAAAAAYAAAQAAAAAAAJWUDggLgAAADABAJ0BKgcABQAB"
        "QCYloAADcAD+8U2v/62/HP5rqb//94z//7jP//uM/+RAAABBTk1GQgAAAAAAAAAAAAYAAAQAAAAAAAJBTFBICgAAAAEHULKICERE/wNWUDggGAAAADAB"
        "AJ0BKgcABQABQCYlpAADcAD+/SBQAA=="
    ),
}


def image(width: int, height: int, detail: str | None = None) -> Media:
    return Media(media="image", url="https://images.example/1", size_px=(width, height), detail=detail)


def png(width: int, height: int) -> str:
    """A real black-and-white PNG of that size, in base64."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = (b"\0" + bytes((width + 7) // 8)) * height
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + content).decode()


def sent(data: str, kind: str = "png") -> Message:
    url = f"data:image/{kind.split()[0]};base64,{data}"
    return from_chat({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})


def size_of(message: Message) -> tuple[int, int] | None:
    (part,) = message.parts
    assert isinstance(part, Media)
    return part.size_px


@pytest.mark.parametrize(
    ("pricing", "tokens"),
    [
        (GPT_4O, 765),
        (OpenAITiles(70, 140), 630),
        (OpenAITiles(75, 150), 675),
        (OpenAITiles(2833, 5667), 25_501),
        (GPT_5_5_ORIGINAL, 12_000),
        (OpenAIPatches(), 3_000),
        (CLAUDE, 1568),
        (CLAUDE_HIGH, 4784),
        (GeminiTiles(), 24 * 258),
        (FixedImages(1120), 1120),
        (FixedImages(), 765),
    ],
)
def test_a_photo_of_4000_by_3000_costs_what_is_documented(pricing: MediaPricing, tokens: int) -> None:
    assert pricing(image(4000, 3000)) == tokens


@pytest.mark.parametrize(
    ("pricing", "shown", "tokens"),
    [
        (GPT_4O, image(512, 512), 255),
        (GPT_4O, image(513, 512), 425),
        (GPT_4O, image(1024, 1024), 765),
        (GPT_4O, image(2048, 4096), 1105),
        (GPT_4O, image(4096, 8192, "low"), 85),
        (GPT_4O, image(1, 100_000), 765),
        (OpenAIPatches(1.62, 1536), image(1024, 1024), 1659),
        (OpenAIPatches(1.0, 1536), image(32, 33), 2),
        (OpenAIPatches(), image(4000, 3000, "low"), 231),
        (CLAUDE, image(1000, 1000), 1296),
        (CLAUDE, image(28, 29), 2),
        (CLAUDE_HIGH, image(1568, 1176), 2352),
        (GeminiTiles(), image(384, 384), 258),
        (GeminiTiles(), image(385, 10), 258),
        (GeminiTiles(), image(769, 768), 516),
    ],
)
def test_smaller_and_odd_images(pricing: MediaPricing, shown: Media, tokens: int) -> None:
    assert pricing(shown) == tokens


def test_scaling_does_not_cost_a_row_of_tiles_too_many() -> None:
    """The short side comes to 768 and the long one to 1536: six tiles, for every size of this shape."""
    sizes = range(1024, 6000)
    assert {GPT_4O(image(2 * side, side)) for side in sizes} == {85 + 6 * 170}
    assert {GPT_4O(image(side, 2 * side)) for side in sizes} == {85 + 6 * 170}


@pytest.mark.parametrize("pricing", [GPT_4O, OpenAIPatches(), CLAUDE, CLAUDE_HIGH, GeminiTiles(), FixedImages()])
def test_an_unknown_or_absurd_size_has_a_price(pricing: MediaPricing) -> None:
    assert pricing(Media(media="image", file_id="f1")) == pricing(image(1024, 1024))
    assert 1 <= pricing(image(0, 0)) <= 1_000
    assert pricing(image(10**9, 1)) > 0


@pytest.mark.parametrize("kind", IMAGES)
def test_the_size_is_read_from_the_image(kind: str) -> None:
    assert size_of(sent(IMAGES[kind], kind)) == (7, 5)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("sizes", [[100], [40_000], [65_535], [65_535] * 3, [65_535, 7, 8, 9, 65_534]])
def test_the_size_of_a_jpeg_is_found_behind_its_exif_blocks(sizes: list[int], wrapped: bool) -> None:
    """A block has a length of two bytes, so 192 KB of metadata are three blocks."""
    jpeg = base64.b64decode(IMAGES["jpeg"])
    exif = b"".join(b"\xff\xe1" + struct.pack(">H", size) + bytes(size - 2) for size in sizes)
    content = jpeg[:2] + exif + jpeg[2:]
    data = base64.encodebytes(content).decode() if wrapped else base64.b64encode(content).decode()
    assert size_of(sent(data, "jpeg")) == (7, 5)


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize(("line", "end"), [(76, "\r\n"), (64, "\n"), (4, " "), (1, "\n")])
def test_the_size_is_read_from_base64_in_lines(kind: str, line: int, end: str) -> None:
    data = IMAGES[kind]
    lines = "".join(data[at : at + line] + end for at in range(0, len(data), line))
    assert size_of(sent(end + lines, kind)) == (7, 5)


def test_a_jpeg_of_nothing_but_metadata_has_no_size() -> None:
    for block in (b"\xff\xe1\x00\x00", b"\xff", b"\xff\xe1\xff\xff" + bytes(65_533)):
        assert size_of(sent(base64.b64encode(b"\xff\xd8" + block * 40).decode(), "jpeg")) is None


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize("kept", [0, 4, 8, 16, 24, 40])
def test_a_cut_image_has_no_size_or_its_own(kind: str, kept: int) -> None:
    assert size_of(sent(IMAGES[kind][:kept] or "A", kind)) in (None, (7, 5))


def test_a_large_image_is_priced_by_the_size_in_its_header() -> None:
    photo = sent(png(4000, 3000))
    assert size_of(photo) == (4000, 3000)
    prices = [HeuristicTokenCounter(images=pricing).count_message(photo) - 4 for pricing in (GPT_4O, CLAUDE, CLAUDE_HIGH)]
    assert prices == [765, 1568, 4784]


def test_sound_and_documents_are_priced_by_size_not_as_text() -> None:
    counter = HeuristicTokenCounter()
    minute = Media(media="audio", data="A" * (60 * 16_000 * 4 // 3))
    pages = Media(media="document", data="A" * (10 * 50_000 * 4 // 3))
    assert counter.count_message(Message(role="user", parts=(minute,))) == pytest.approx(60 * 32, rel=0.05)
    assert counter.count_message(Message(role="user", parts=(pages,))) == pytest.approx(10 * 560, rel=0.15)
