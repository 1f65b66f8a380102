"""Our policies and signals under the suites that others run."""

import json
from pathlib import Path
from typing import ClassVar

import pytest

from contextport.adapters.modes.rules_file import ModeRulesFile
from contextport.conformance_tests import ModePolicyConformance, ModeSignalConformance
from contextport.conformance_tests.mode_situations import RuleLayers
from contextport.contracts.modes import ModePolicy, ModeSignal
from contextport.strategies.modes import AsksAboutEarlyDetails, BeginsNewTask, ModeMachine, NeedsKnowledge, RulesBook


class TestModeMachine(ModePolicyConformance):
    def make_policy(self, layers: RuleLayers) -> ModePolicy:
        return ModeMachine(RulesBook.of(layers.as_json(), tenant_of=layers.tenant_of))


class TestModeRulesFile(ModePolicyConformance):
    folder: ClassVar[Path]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _folder(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.folder = tmp_path_factory.mktemp("rules")

    def make_policy(self, layers: RuleLayers) -> ModePolicy:
        path = self.folder / f"{self.fresh_name()}.json"
        path.write_text(json.dumps(layers.as_json()), "utf-8")
        return ModeRulesFile(path, tenant_of=layers.tenant_of, clock=lambda: 0)


class TestAsksAboutEarlyDetails(ModeSignalConformance):
    def make_signal(self) -> ModeSignal:
        return AsksAboutEarlyDetails()


class TestBeginsNewTask(ModeSignalConformance):
    def make_signal(self) -> ModeSignal:
        return BeginsNewTask()


class TestNeedsKnowledge(ModeSignalConformance):
    def make_signal(self) -> ModeSignal:
        return NeedsKnowledge()
