"""`python -m tests.support.s3_server FULL`: an S3 server on loopback, with one bucket and one user who may use it.

In: FULL, a path: while there is a file, the server has no space left, and refuses to store anything. Out: a line with
the address and the user's keys. The server ends with its input. It is moto's, with its check of signatures' keys.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.served import ended_with_input

TREE = Path(__file__).parents[2]
BUCKET = "facts"
_POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'
_NO_SPACE = b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>XMinioStorageFull</Code><Message>secret detail</Message></Error>'
_SET_UP = 4  # requests that create the user and the bucket, before keys are checked


class S3Server(NamedTuple):
    """A running server."""

    address: str
    variables: dict[str, str]  # what makes a program use it
    full: Path  # while this file exists, nothing can be stored

    def objects(self) -> dict[str, bytes]:
        """Return all objects of the bucket, by name."""
        client = self._client()
        listed = client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return {one["Key"]: client.get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read() for one in listed}

    def replace(self, name: str, data: bytes) -> None:
        """Store other bytes under the name of an object."""
        self._client().put_object(Bucket=BUCKET, Key=name, Body=data)

    def _client(self) -> Any:
        # Not s3fs, which starts a thread in the process of the tests.
        import boto3

        key, secret = (self.variables[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
        return boto3.client("s3", endpoint_url=self.address, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key=secret)


@contextmanager
def running(folder: Path) -> Iterator[S3Server]:
    """Run a server, in a process of its own."""
    full = folder / "full"
    variables = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_SET_UP), "AWS_EC2_METADATA_DISABLED": "true"}
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(full)], cwd=TREE, env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process, ended_with_input(process, 20):  # fmt: skip
        assert process.stdout is not None
        address, key, secret = process.stdout.readline().split()
        names = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION", "AWS_EC2_METADATA_DISABLED")
        yield S3Server(address, dict(zip(names, (address, key, secret, "us-east-1", "true"), strict=True)), full)


def _with_limited_space(app: Callable[..., Iterable[bytes]], full: str) -> Callable[..., Iterable[bytes]]:
    def answer(request: dict[str, Any], respond: Callable[..., Any]) -> Iterable[bytes]:
        if request["REQUEST_METHOD"] in ("PUT", "POST") and os.path.exists(full):
            respond("507 Insufficient Storage", [("Content-Type", "application/xml"), ("Content-Length", str(len(_NO_SPACE)))])
            return [_NO_SPACE]
        return app(request, respond)

    return answer


def main(full: str) -> None:
    import boto3
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, _with_limited_space(DomainDispatcherApplication(create_backend_app), full), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    at: dict[str, Any] = {"endpoint_url": address, "region_name": "us-east-1", "aws_access_key_id": "any", "aws_secret_access_key": "any"}
    users = boto3.client("iam", **at)
    users.create_user(UserName="builder")
    users.put_user_policy(UserName="builder", PolicyName="facts", PolicyDocument=_POLICY)
    keys = users.create_access_key(UserName="builder")["AccessKey"]
    boto3.client("s3", **at).create_bucket(Bucket=BUCKET)
    print(address, keys["AccessKeyId"], keys["SecretAccessKey"], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
