import { short } from '../short.ts'
import { program } from './redis-refuses.ts'

await short('redis-refuses', program)
