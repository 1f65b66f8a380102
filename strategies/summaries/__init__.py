"""Much text made little: summarizers on ports alone, and the check of what they write."""

from .checked import CheckedSummarizer, CheckedSummary
from .extractive import ExtractiveSummarizer
from .faults import faults_of
from .model_summarizer import ModelSummarizer
from .summary_message import summary_in, summary_message

__all__ = [
    "CheckedSummarizer",
    "CheckedSummary",
    "ExtractiveSummarizer",
    "ModelSummarizer",
    "faults_of",
    "summary_in",
    "summary_message",
]
