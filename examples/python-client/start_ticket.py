"""Starts a ticket over Temporal and waits for it.

    python -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python start_ticket.py ticket.json --remote https://git.example/bucket.git

The names and the JSON arguments are those of docs/reference/temporal-contract.md. Temporal does not know who calls: only a trusted
orchestrator may reach it. The definition is not read again by the workflow, so every member must be there, defaults included.
"""

import argparse
import asyncio
import json
import sys

from temporalio.client import Client
from temporalio.common import SearchAttributeKey, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

PHASE = SearchAttributeKey.for_keyword("Phase")
WAITING_ON = SearchAttributeKey.for_keyword("WaitingOn")
LOOK_EVERY = 1.0


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("definition", help="JSON file of the ticket")
    parser.add_argument("--address", default="127.0.0.1:7233", help="Temporal's frontend")
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--tenant", default="local")
    parser.add_argument("--by", default="nexus", help="who starts it, as history shows it")
    parser.add_argument("--remote", default=None, help="where the base comes from and the change lands")
    parser.add_argument("--base-sha", default=None, help="commit to start from; left out, the newest of the remote")
    args = parser.parse_args()

    with open(args.definition, encoding="utf-8") as file:
        definition = json.load(file)
    ticket = {
        "tenant": args.tenant,
        "definition": definition,
        "source": {"importId": None, "baseSha": args.base_sha, "remote": args.remote},
        "by": args.by,
        "carried": None,
        "historyLimit": None,
    }
    workflow_id = f"ticket/{args.tenant}/{definition['id']}"

    client = await Client.connect(args.address, namespace=args.namespace)
    try:
        # No execution and no run time-out: those would end the ticket without its cleanup.
        handle = await client.start_workflow(
            "ticket",
            ticket,
            id=workflow_id,
            task_queue=f"control/{args.tenant}",
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=f"{definition['id']}: {definition['title']}",
        )
    except WorkflowAlreadyStartedError:
        # Started before, by this program or another: waiting for it is what is left to do.
        handle = client.get_workflow_handle(workflow_id)

    ended = asyncio.create_task(handle.result())
    shown = None
    while not ended.done():
        shown = await show(handle, shown)
        await asyncio.wait([ended], timeout=LOOK_EVERY)
    outcome = await ended
    print(json.dumps(outcome))
    return 0 if outcome["phase"] == "done" else 1


async def show(handle, shown):
    """Says where the ticket stands, when that is news. Read off its search attributes: those cost no worker's time."""
    attributes = (await handle.describe()).typed_search_attributes
    line = f"{attributes.get(PHASE)}: waits for {attributes.get(WAITING_ON)}"
    if line != shown:
        print(line, file=sys.stderr)
    return line


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
