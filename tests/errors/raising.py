"""Error shapes as programs meet them: raised by the vendors' own packages, or answered over HTTP or in a stream."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import httpx2
import openai
from botocore.exceptions import ClientError, EventStreamError
from google.genai import errors as genai_errors

from contextport.contracts.errors import ModelCallFailed
from contextport.contracts.provider_error import ProviderFailure

from .rendering import Rendered

__all__ = ["as_raised"]

_HOSTS = {
    "openai": "https://api.openai.com/v1",
    "azure_openai": "https://mine.openai.azure.com/openai",
    "zhipu": "https://open.bigmodel.cn/api/paas/v4",
    "minimax": "https://api.minimax.io/v1",
    "dashscope": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "moonshot": "https://api.moonshot.cn/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "cerebras": "https://api.cerebras.ai/v1",
    "xai": "https://api.x.ai/v1",
    "github_copilot": "https://api.githubcopilot.com",
    "qianfan": "https://qianfan.baidubce.com/v2",
    "iflytek": "https://spark-api-open.xf-yun.com/v1",
}
_MODULES = {
    "mistralai": "mistralai.models",
    "cohere": "cohere.errors",
    "ollama": "ollama._types",
    "groq": "groq",
    "cerebras": "cerebras.cloud.sdk",
    "huggingface_hub.errors": "huggingface_hub.errors",
    "grpc": "grpc._channel",
    "litellm": "litellm.exceptions",
}


def as_raised(entry: dict[str, Any], rendered: Rendered, attempt: int) -> object:
    """The object that a program catches or receives for this entry."""
    transport, named = entry["transport"], str(entry["exception"] or "")
    if transport == "stop_reason":
        return _completion(entry)
    if transport == "usage":
        usage = {"prompt_tokens": dict(rendered.numbers).get("input", 9_000), "completion_tokens": 0}
        return {"choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": ""}}], "usage": usage}
    if transport == "body_status":
        return _in_body(entry, rendered.message)
    if "no body" in rendered.message or (entry["status"] == 413 and not rendered.message):
        return _openai_error(entry, "")
    if named.startswith(("botocore", "google", "openai", "anthropic")):
        return _of_installed(entry, rendered.message, named)
    if transport == "grpc" or named.startswith("grpc"):
        return _grpc_error(entry, rendered.message)
    if named:
        return _of_other_package(entry, rendered.message, named)
    return _unnamed(entry, rendered.message, attempt)


def _completion(entry: dict[str, Any]) -> dict[str, Any]:
    if entry["provider"] in ("anthropic", "bedrock"):
        return {"type": "message", "stop_reason": entry["code"], "content": [{"type": "text", "text": "Half"}]}
    return {"choices": [{"finish_reason": entry["code"], "message": {"role": "assistant", "content": "Half"}}]}


def _in_body(entry: dict[str, Any], message: str) -> dict[str, Any]:
    if entry["provider"] == "minimax":
        return {"choices": None, "base_resp": {"status_code": int(entry["code"]), "status_msg": message}}
    return {"error_code": int(entry["code"]), "error_msg": message}


def _error_of(entry: dict[str, Any], message: str) -> dict[str, Any]:
    code, kind = entry["code"], entry["type"]
    if message.startswith("Provider returned error {"):  # OpenRouter: the upstream's answer is a string in the metadata
        metadata = json.loads(message.removeprefix("Provider returned error "))
        return {"message": "Provider returned error", "code": int(code), "metadata": {**metadata, "provider_name": "Upstream"}}
    return {"message": message, "type": kind, "param": None, "code": code}


def _wire(entry: dict[str, Any], message: str) -> dict[str, Any]:
    """The JSON body as the provider sends it."""
    provider = entry["provider"]
    if provider in ("anthropic", "vertex_anthropic"):
        return {
            "type": "error",
            "error": {"type": entry["type"] or "invalid_request_error", "message": message},
            "request_id": "req_011",
        }
    if provider in ("gemini", "vertex"):
        return {"error": {"code": entry["status"], "message": message, "status": entry["code"]}}
    if provider == "mistral":
        return {"object": "error", "message": message, "type": entry["type"], "param": None, "code": entry["code"]}
    if provider in ("cohere", "bedrock", "ai21"):
        return {"message": message}
    if provider == "tgi":
        return {"error": message, "error_type": entry["type"]}
    if provider == "llama_cpp":
        return {"error": {"code": entry["status"], "message": message, "type": entry["type"]}}
    return {"error": _error_of(entry, message)}


def _url(entry: dict[str, Any]) -> str:
    return _HOSTS.get(entry["provider"], "https://llm.example.com/v1")


def _of_installed(entry: dict[str, Any], message: str, named: str) -> object:
    code, status = entry["code"], entry["status"]
    if "EventStreamError" in named:
        return EventStreamError({"Error": {"Code": code, "Message": message}}, "ConverseStream")
    if named.startswith("botocore"):
        answer = {
            "Error": {"Code": code or named.rpartition(" ")[2], "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }
        return ClientError(answer, "Converse")
    if named.startswith("google"):
        raised = genai_errors.ServerError if status >= 500 else genai_errors.ClientError
        return raised(status, _wire(entry, message))
    if named == "openai.LengthFinishReasonError":
        return _of_other_package(entry, message, named)
    if named == "openai.APIError" or (entry["transport"] == "in_stream" and named.startswith("openai")):
        return openai.APIError(message, httpx2.Request("POST", _url(entry)), body=_error_of(entry, message))
    if named.startswith("anthropic"):
        return _anthropic_error(entry, message)
    return _openai_error(entry, json.dumps(_wire(entry, message)))


def _openai_error(entry: dict[str, Any], body: str) -> object:
    """What the client raises when the host answers with that status and body."""
    transport = httpx2.MockTransport(lambda request: httpx2.Response(entry["status"], text=body))
    client = openai.OpenAI(api_key="none", base_url=_url(entry), max_retries=0, http_client=httpx2.Client(transport=transport))
    try:
        client.post("/chat/completions", cast_to=object, body={})
    except openai.APIError as error:
        return error
    raise AssertionError(f"{entry['id']} was answered")


def _anthropic_error(entry: dict[str, Any], message: str) -> object:
    body = _wire(entry, message)
    if entry["transport"] == "in_stream":
        response = httpx2.Response(200, request=httpx2.Request("POST", "https://api.anthropic.com/v1/messages"))
        return anthropic.APIStatusError(json.dumps(body), response=response, body=body)
    transport = httpx2.MockTransport(lambda request: httpx2.Response(entry["status"], json=body))
    client = anthropic.Anthropic(api_key="none", max_retries=0, http_client=httpx2.Client(transport=transport))
    try:
        client.post("/v1/messages", cast_to=object, body={})
    except anthropic.APIError as error:
        return error
    raise AssertionError(f"{entry['id']} was answered")


class _Foreign(Exception):
    """An exception with the attributes of a package that is not installed here."""


def _grpc_error(entry: dict[str, Any], message: str) -> object:
    class StatusCode:
        name = entry["code"]

    members = {"__module__": "grpc._channel", "code": lambda self: StatusCode(), "details": lambda self: message}
    return type("_InactiveRpcError", (_Foreign,), members)()


def _of_other_package(entry: dict[str, Any], message: str, named: str) -> object:
    package = named.replace(" ", ".").partition(".")[0]
    module = next((one for name, one in _MODULES.items() if name.partition(".")[0] == package), package)
    name = named.partition(" / ")[0].replace(" ", ".").rpartition(".")[2]
    error: Any = type(name, (_Foreign,), {"__module__": module})(message)
    if entry["status"] is not None:
        error.status_code = entry["status"]
    if package == "ollama":
        error.error = message
    elif package == "litellm":
        error.message, error.llm_provider = message, "openai"
    elif package in ("groq", "cerebras"):
        error.body = _error_of(entry, message)
    elif package == "mistralai":
        error.body = json.dumps(_wire(entry, message))
    else:
        error.body = _wire(entry, message)
    return error


def _unnamed(entry: dict[str, Any], message: str, attempt: int) -> object:
    """Hosts without a package of their own, in turn: an httpx response, its exception, dicts, our own failure."""
    html = message.startswith("<html")
    body = message if html else json.dumps(_wire(entry, message), ensure_ascii=False)
    status = entry["status"]
    if entry["transport"] == "in_stream":
        return f"event: error\ndata: {json.dumps({'error': _error_of(entry, message)})}\n\n"
    if status is None:
        return RuntimeError(message)
    request = httpx.Request("POST", _url(entry))
    response = httpx.Response(status, text=body, request=request)
    if attempt % 4 == 0:
        return response
    if attempt % 4 == 1:
        return httpx.HTTPStatusError(f"Client error '{status}' for url '{_url(entry)}'", request=request, response=response)
    if attempt % 4 == 2 or html:
        return {"status": status, "body": body if html else _wire(entry, message)}
    failure = ProviderFailure(status=status, code=entry["code"], type=entry["type"], message=message)
    return ModelCallFailed("the model did not answer", failure=failure)
