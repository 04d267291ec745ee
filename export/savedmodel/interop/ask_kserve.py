"""Asks a server of SavedModels by KServe's REST client: ask_kserve.py URL MODEL REQUEST.

Prints the answer of the V1 protocol as JSON, after the server is live and ready by the V2 protocol's paths.
"""

import asyncio
import json
import sys

from kserve import InferenceRESTClient, RESTConfig


async def main(url, model, request):
    probes = InferenceRESTClient(config=RESTConfig(protocol="v2"))
    if not (await probes.is_server_live(url) and await probes.is_server_ready(url)):
        sys.exit("the server is not live or not ready")
    client = InferenceRESTClient(config=RESTConfig(protocol="v1"))
    print(json.dumps(await client.infer(url, model_name=model, data=json.loads(request))))


asyncio.run(main(*sys.argv[1:]))
