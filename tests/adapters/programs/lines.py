"""A program that speaks JSON lines, and asks a model over HTTP."""

import json
import os
import sys
from subprocess import Popen
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MODEL = f"{os.environ['GOOGLE_GEMINI_BASE_URL']}/v1beta/models/gemini-x:generateContent"
contents = []


def write(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def ask():
    body = json.dumps({"contents": contents}).encode()
    with urlopen(Request(MODEL, body, {"content-type": "application/json"})) as response:
        return json.load(response)["candidates"][0]["content"]


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "abort":
        write(type="end", reason="aborted")
        continue
    match message["text"]:
        case "crash":
            sys.exit("no licence")
        case "print":
            sys.stdout.write("hello\n")
            sys.stdout.flush()
            continue
        case "hang":
            write(type="text", text="Wait.")
            continue
        case "child":
            child = Popen(["sleep", "600"])
            write(type="custom", kind="child", data={"pid": child.pid})
    contents.append({"role": "user", "parts": [{"text": message["text"]}]})
    try:
        answer = ask()
        contents.append(answer)
        for part in answer["parts"]:
            write(type="text", text=part["text"])
        write(type="end")
    except HTTPError as error:
        write(type="error", status=str(error.code), message=json.load(error)["error"]["message"])
        write(type="end", reason="failed")
