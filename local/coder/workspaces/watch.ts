/**
 * The watch stream: a ping first, the whole workspace at the start and on each change, a ping now and then. It holds no
 * history, says the same more than once, and stays open when the workspace is gone.
 */
import type { Response } from 'express';
import type { LocalCoderContext } from '../context.ts';
import type { Workspace } from '../state/records.ts';
import { workspaceView } from './view.ts';

export function watchWorkspace(coder: LocalCoderContext, id: string, response: Response): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    Connection: 'keep-alive',
    'X-Accel-Buffering': 'no',
  });
  const ping = () => void response.write('event: ping\n\n');
  const snapshot = () => {
    const workspace: Workspace | undefined = coder.state.workspaces.get(id);
    if (workspace === undefined) return;
    response.write(`event: data\ndata: ${JSON.stringify(workspaceView(coder, workspace))}\n\n`);
  };
  ping();
  snapshot();
  const deaf = coder.changes.hear(id, snapshot);
  const calm = coder.clock.every(coder.settings.pingMs, ping);
  const end = () => response.end();
  coder.ending.addEventListener('abort', end, { once: true });
  response.on('close', () => {
    deaf();
    calm();
    coder.ending.removeEventListener('abort', end);
  });
}
