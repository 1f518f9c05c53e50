import { program } from './ledger.ts'
import { short } from '../short.ts'

await short('ledger', program)
