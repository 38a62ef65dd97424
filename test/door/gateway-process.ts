/** A gateway as a process of its own, so that it can be killed. Says where it listens once it does. */
import { pino } from 'pino';
import { startGateway } from '../../gateway/main.ts';
import { gatewaySettings } from './processes.ts';

const gateway = await startGateway({
  ...gatewaySettings(process.env),
  logger: pino({ level: 'warn' }, pino.destination(2)),
});
process.stdout.write(`${JSON.stringify({ port: gateway.port })}\n`);
process.once('SIGTERM', () => void gateway.close());
