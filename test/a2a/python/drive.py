"""Drives a gateway with the official A2A client and prints what it saw as one JSON object.

Usage: drive.py URL OTHER_URL MOVING_URL BINDING BEARER FOREIGN_BEARER PAIR

Writes `mid-run` to stderr when the gateway behind MOVING_URL may go away.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client.client import ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import TaskNotCancelableError, UnsupportedOperationError
from google.protobuf.json_format import MessageToDict, ParseDict

EXTENSION = 'urn:portcullis:a2a:verify:v1'
LONG = ['node', '--test', 'long.test.js']
AGAIN = ['node', '--test', 'again.test.js']
RACE = ['node', '--test', 'race.test.js']
ENDLESS = ['node', '--test', 'endless.test.js']


async def connect(url, binding, bearer, streaming=True):
    http = httpx.AsyncClient(
        headers={'Authorization': f'Bearer {bearer}', 'A2A-Extensions': EXTENSION},
        timeout=60,
    )
    config = ClientConfig(
        httpx_client=http,
        streaming=streaming,
        polling=not streaming,
        supported_protocol_bindings=[binding],
    )
    return await ClientFactory(config).create_from_url(url)


def request(pair, argv, attempt=1, message_id=None):
    verify = {
        'kind': 'command',
        'cwd': 'repo',
        'argv': argv,
        'timeout_secs': 60,
        'expect': {'exit_code': 0},
        'attempt': attempt,
    }
    ask = {'task_type': 'verify', 'pair_id': pair, 'verify': verify}
    message = {
        'messageId': message_id or str(uuid.uuid4()),
        'role': 'ROLE_USER',
        'parts': [{'data': ask}],
        'extensions': [EXTENSION],
    }
    return ParseDict({'message': message}, a2a.SendMessageRequest())


def plain(message):
    return MessageToDict(message)


def inner(event):
    return getattr(event, event.WhichOneof('payload'))


def seq_of(event):
    return plain(inner(event)).get('metadata', {}).get(EXTENSION, {}).get('seq')


def state_of(task):
    return a2a.TaskState.Name(task.status.state)


async def send(client, *args, **kwargs):
    async for event in client.send_message(request(*args, **kwargs)):
        return inner(event)


def behind(seq):
    return ClientCallContext(service_parameters={'Last-Event-ID': str(seq)})


async def name_of_error(awaitable):
    try:
        await awaitable
    except Exception as error:
        return type(error).__name__
    return None


async def first(events):
    async for event in events:
        return event


async def drop_twenty_times(clients, task_id):
    """Subscribes again and again behind the last number it has; the union is what it tells."""
    seen, last, drops = [], 0, 0
    while True:
        client = clients[drops % len(clients)]
        taken = 0
        async for event in client.subscribe(
            a2a.SubscribeToTaskRequest(id=task_id), context=behind(last)
        ):
            if event.WhichOneof('payload') == 'task':
                continue
            seq = seq_of(event)
            if seq is not None:
                seen.append(int(seq))
                last = int(seq)
                taken += 1
            if drops < 20 and taken > drops % 3:
                break
        else:
            return seen, drops
        drops += 1


async def through_restart(client, task_id):
    """Watches one run through a gateway that goes away under way, behind the last number it has."""
    seen, last, cuts = [], 0, 0
    while True:
        try:
            async for event in client.subscribe(
                a2a.SubscribeToTaskRequest(id=task_id), context=behind(last)
            ):
                seq = None if event.WhichOneof('payload') == 'task' else seq_of(event)
                if seq is None:
                    continue
                last = int(seq)
                seen.append(last)
                if last == 20:
                    print('mid-run', file=sys.stderr, flush=True)
            return seen, cuts
        except UnsupportedOperationError:
            return seen, cuts
        except Exception:
            cuts += 1
            await asyncio.sleep(0.05)


async def race(client, polling, pair, n):
    """Cancels a short run at another moment each time; what the cancel was answered, and how it ended for good."""
    task_id = (await send(polling, pair, RACE, attempt=n + 1)).id
    await asyncio.sleep(0.2 * n)
    try:
        answered = state_of(await client.cancel_task(a2a.CancelTaskRequest(id=task_id)))
    except TaskNotCancelableError:
        answered = 'not cancelable'
    while True:
        ended = state_of(await client.get_task(a2a.GetTaskRequest(id=task_id)))
        if ended not in ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'):
            return [answered, ended]
        await asyncio.sleep(0.05)


async def main(url, other_url, moving_url, binding, bearer, foreign_bearer, pair):
    client = await connect(url, binding, bearer)
    other = await connect(other_url, binding, bearer)
    polling = await connect(url, binding, bearer, streaming=False)
    foreign = await connect(url, binding, foreign_bearer)
    out = {}

    streamed = [event async for event in client.send_message(request(pair, ['node', '--test']))]
    out['streamed'] = [event.WhichOneof('payload') for event in streamed]
    out['streamed_state'] = state_of(inner(streamed[-1]))

    sent = await send(polling, pair, LONG, message_id='same')
    out['immediate_state'] = state_of(sent)
    out['retry_is_same'] = (await send(polling, pair, LONG, message_id='same')).id == sent.id
    seen, drops = await drop_twenty_times([client, other], sent.id)
    out['seen'], out['drops'] = seen, drops
    ended = await client.get_task(a2a.GetTaskRequest(id=sent.id))
    out['ended_state'] = state_of(ended)
    out['ended_seq'] = plain(ended)['metadata'][EXTENSION]['seq']
    out['artifacts'] = [artifact.artifact_id for artifact in ended.artifacts]
    out['subscribe_after_end'] = await name_of_error(
        first(client.subscribe(a2a.SubscribeToTaskRequest(id=sent.id)))
    )
    out['cancel_after_end'] = await name_of_error(client.cancel_task(a2a.CancelTaskRequest(id=sent.id)))

    endless = await send(polling, pair, ENDLESS)
    out['running_state'] = state_of((await first(other.subscribe(a2a.SubscribeToTaskRequest(id=endless.id)))).task)
    out['cancelled'] = state_of(await client.cancel_task(a2a.CancelTaskRequest(id=endless.id)))
    out['cancelled_again'] = state_of(await other.cancel_task(a2a.CancelTaskRequest(id=endless.id)))

    rejected = await send(client, pair, ['rm', '-rf', '/'])
    out['rejected'] = state_of(rejected)
    out['rejected_again'] = state_of(await other.get_task(a2a.GetTaskRequest(id=rejected.id)))

    out['foreign_get'] = await name_of_error(foreign.get_task(a2a.GetTaskRequest(id=sent.id)))
    out['foreign_cancel'] = await name_of_error(foreign.cancel_task(a2a.CancelTaskRequest(id=sent.id)))
    out['foreign_subscribe'] = await name_of_error(
        first(foreign.subscribe(a2a.SubscribeToTaskRequest(id=sent.id)))
    )
    out['foreign_list'] = len((await foreign.list_tasks(a2a.ListTasksRequest())).tasks)

    pages, token = [], ''
    while True:
        page = await client.list_tasks(a2a.ListTasksRequest(page_size=2, page_token=token))
        pages.append(len(page.tasks))
        token = page.next_page_token
        if not token:
            break
    out['pages'], out['total'] = pages, page.total_size
    completed = a2a.ListTasksRequest(status=a2a.TaskState.TASK_STATE_COMPLETED, include_artifacts=True)
    out['completed'] = [len(task.artifacts) for task in (await client.list_tasks(completed)).tasks]

    moving = await connect(moving_url, binding, bearer)
    again = await send(polling, pair, AGAIN)
    out['through'], out['cuts'] = await through_restart(moving, again.id)
    out['through_seq'] = plain(await moving.get_task(a2a.GetTaskRequest(id=again.id)))['metadata'][EXTENSION]['seq']
    out['races'] = [await race(client, polling, pair, n) for n in range(6)]
    print(json.dumps(out))


asyncio.run(main(*sys.argv[1:]))
