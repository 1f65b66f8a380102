"""Tool results made smaller: on their way in, per turn, and when they are old. Calls and results stay paired."""

from .budget_tool_results import BudgetToolResults
from .ingest_policy import IngestPolicy, original_of, original_record
from .ingest_rules import INGEST_RULES, IngestRule
from .shapes import SHAPES, Shape, shape_of, shrink_text
from .shrink_tool_results import ShrinkToolResults

__all__ = [
    "INGEST_RULES",
    "SHAPES",
    "BudgetToolResults",
    "IngestPolicy",
    "IngestRule",
    "Shape",
    "ShrinkToolResults",
    "original_of",
    "original_record",
    "shape_of",
    "shrink_text",
]
