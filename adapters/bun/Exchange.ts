/** One outgoing HTTP exchange on Bun: `node:http`, for the reasons told in `adapters/shared/HttpExchange.ts`. */
export {
  type Call,
  exchange,
  ExchangeFailed,
  type Fields,
  type Phase,
  type Reply,
  type Witness,
} from "../shared/HttpExchange.ts"
