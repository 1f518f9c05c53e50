import { program } from './upgrade.ts'
import { short } from '../short.ts'

await short('upgrade', program)
