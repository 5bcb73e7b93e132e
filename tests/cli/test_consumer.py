"""A prompt piped into a real consumer, the `llm` command line, with a model that needs no network."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import environment, ragcli

MODEL = '''\
import json
from xml.etree import ElementTree
import llm

class Stub(llm.Model):
    """Answers with what it was given: files quoted, and the question."""
    model_id = "stub"

    def execute(self, prompt, stream, response, conversation):
        memory, _, rest = prompt.prompt.partition("</tnsai-memory>")
        evidence = ElementTree.fromstring(memory + "</tnsai-memory>")
        files = [one.find("provenance/entry/value").text for one in evidence]
        question = rest.strip().removeprefix("<tnsai-user-message>").removesuffix("</tnsai-user-message>").strip()
        yield json.dumps({"files": files, "question": question})

@llm.hookimpl
def register_models(register):
    register(Stub())
'''


@pytest.mark.skipif(shutil.which("llm") is None, reason="the package llm is not installed")
def test_llm_reads_the_evidence_and_the_question(tree: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "llm_stub.py").write_text(MODEL)
    about = tmp_path / "llm_stub-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-stub\nVersion: 0\n")
    (about / "entry_points.txt").write_text("[llm]\nllm_stub = llm_stub\n")
    prompt = ragcli("prompt", "where is the <kiwi> & why?", "-k", "3", data=data, cwd=tree)

    variables = environment(data, PYTHONPATH=str(tmp_path), LLM_USER_PATH=str(tmp_path), PATH=os.environ["PATH"])
    done = subprocess.run(
        ["llm", "-m", "stub", "--no-log"], input=prompt.stdout, env=variables, capture_output=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["files"]) == 3
    assert answer["question"] == "where is the <kiwi> & why?"
