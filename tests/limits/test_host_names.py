"""One spelling of a host."""

import pytest

from contextport.adapters.limits.host_names import host_name, is_this_machine


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("api.openai.com", "api.openai.com"),
        ("https://API.OpenAI.com/v1/", "api.openai.com"),
        ("https://api.openai.com:443", "api.openai.com"),
        ("http://api.openai.com:80/v1", "api.openai.com"),
        ("https://user:secret@api.host.example/v1?key=secret#x", "api.host.example"),
        ("https://generativelanguage.googleapis.com/v1beta", "generativelanguage.googleapis.com"),
        ("https://api.host.example/coding/v4", "api.host.example/coding"),
        ("http://localhost:8000/v1", "localhost:8000"),
        ("localhost:8000", "localhost:8000"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("", ""),
        ("  ", ""),
        ("No Such Host", "no such host"),
        ("http://[broken", "http://[broken"),
        ("host:port", "host:port"),
        ("\ud800", "\ud800"),
    ],
)
def test_spellings_of_one_host(written: str, name: str) -> None:
    assert host_name(written) == name
    assert host_name(name) == name


def test_this_machine_is_known_by_its_addresses() -> None:
    for host in ("localhost", "localhost:1234", "127.0.0.1:80/x", "[::1]:8080", "0.0.0.0:1"):
        assert is_this_machine(host)
    for host in ("", "api.openai.com", "10.0.0.1", "host.example/localhost"):
        assert not is_this_machine(host)
